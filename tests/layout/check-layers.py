# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom.

libhpmem/ROOM/   itself and the rooms before it, always as "room/noun.h"; <hpm/...>
include/hpm/     <hpm/...> and headers of the C standard
dpdk/            its own files and <hpm/...>
cli/ bench/ demo/  their own files, <hpm/...> and cli/json.h, the shared JSON writer
tests/           anything
No DPDK header in libhpmem/ or include/hpm/."""

import re
from pathlib import Path

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
SHARED = {'cli/json.h'}
C_STANDARD = {f'{name}.h' for name in (
    'assert ctype errno float inttypes limits math stdalign stdarg stdbool stddef stdint stdio '
    'stdlib string time').split()}


def includes(root, path):
    for found in INCLUDE.finditer(tree.without_comments(tree.read(root, path))):
        yield found.group(1) == '"', found.group(2)


def resolve(root, path, name):
    """The file of ours that an include means, relative to root; None if it is none of ours."""
    for base in (path.parent, Path(path.parts[0]), Path(), Path('libhpmem'), Path('include')):
        if (Path(root) / base / name).is_file():
            full = (Path(root) / base / name).resolve()
            return full.relative_to(Path(root).resolve())
    return None


def judge_room(path, quoted, name, target):
    room = path.parts[1]
    if room not in tree.ROOMS:
        return f'room {room} is not in the list of rooms (tests/layout/tree.py)'
    if target is None or target.parts[0] == 'include':
        return 'is quoted but not a file of a room' if quoted else None
    if target.parts[0] != 'libhpmem' or len(target.parts) < 3:
        return 'is outside the rooms'
    if not quoted or name != '/'.join(target.parts[1:]):
        return f'is to be written "{"/".join(target.parts[1:])}"'
    other = target.parts[1]
    if other not in tree.ROOMS or tree.ROOMS.index(other) > tree.ROOMS.index(room):
        return f'room {room} comes before room {other}'
    return None


def judge_public(quoted, name, target):
    if quoted:
        return 'a public header includes with <> only'
    if target is not None and target.parts[:2] == ('include', 'hpm'):
        return None
    return None if name in C_STANDARD else 'is neither <hpm/...> nor a header of the C standard'


def judge_outside(path, quoted, target):
    if target is None:
        return 'is quoted but not a file of this tree' if quoted else None
    if target.parts[0] in (path.parts[0], 'include') or target.parts[0] == 'subprojects':
        return None
    if path.parts[0] != 'dpdk' and target.as_posix() in SHARED:
        return None
    if target.parts[0] == 'libhpmem':
        return f'is private to libhpmem; {path.parts[0]}/ sees public headers only'
    return f'{path.parts[0]}/ does not know {target.parts[0]}/'


def judge(root, path, quoted, name):
    top = path.parts[0]
    target = resolve(root, path, name)
    if top in ('libhpmem', 'include') and re.match(r'(rte_|dpdk/)', name):
        return 'is a DPDK header'
    if top == 'include':
        return judge_public(quoted, name, target)
    if top == 'libhpmem' and len(path.parts) == 3:
        return judge_room(path, quoted, name, target)
    if top == 'libhpmem':
        return 'files of libhpmem/ live in rooms'
    if top == 'tests':
        return None
    return judge_outside(path, quoted, target)


def built_in_order(root):
    """libhpmem/meson.build enters the rooms in the same order."""
    path = Path('libhpmem/meson.build')
    if not (Path(root) / path).is_file():
        return []
    rooms = re.findall(r"^subdir\('(\w+)'\)", tree.read(root, path), re.M)
    known = [room for room in tree.ROOMS if room in rooms]
    return [] if rooms == known else [f'{path}: rooms are {rooms}, the order is {known}']


def check(root):
    problems = built_in_order(root)
    for path in tree.c_files(root):
        if len(path.parts) < 2:
            continue
        for quoted, name in includes(root, path):
            why = judge(root, path, quoted, name)
            if why:
                problems.append(f'{path}: include of {name}: {why}')
    return problems


def self_test():
    good = {
        'include/hpm/arena.h': '#include <stdint.h>\n#include <hpm/base.h>\n',
        'include/hpm/base.h': '#include <stddef.h>\n',
        'libhpmem/meson.build': "subdir('base')\nsubdir('arena')\n",
        'libhpmem/base/log.h': '#include <hpm/base.h>\n',
        'libhpmem/arena/arena.h': '',
        'libhpmem/arena/arena.c':
            '#include "arena/arena.h"\n#include "base/log.h"\n/*\n#include <rte_acl.h>\n*/\n'
            '#include <sys/mman.h>\n',
        'dpdk/heap.c': '#include "errno.h"\n#include <hpm/arena.h>\n#include <rte_malloc.h>\n',
        'dpdk/errno.h': '',
        'cli/json.h': '',
        'cli/verb_ps.c': '#include "json.h"\n',
        'demo/main.c': '#include "cli/json.h"\n#include <hpm/arena.h>\n',
        'tests/unit/log_test.c': '#include "base/log.h"\n',
    }
    with tree.Bad(good) as root:
        tree.expect(check(root), [])
    bad = good | {
        'include/hpm/dpdk.h': '#include <rte_acl.h>\n#include <sys/types.h>\n#include "base.h"\n',
        'libhpmem/meson.build': "subdir('arena')\nsubdir('base')\n",
        'libhpmem/base/log.c': '# include "log.h"\n#include "arena/arena.h"\n',
        'libhpmem/base/units.c': '#include <base/log.h>\n#include "rte_eal.h"\n',
        'libhpmem/attic/old.c': '#include <stdio.h>\n',
        'libhpmem/loose.c': '#include <stdio.h>\n',
        'dpdk/pool.c': '#include "../libhpmem/base/log.h"\n#include "cli/json.h"\n',
        'demo/parse.c': '#include "arena/arena.h"\n#include "nowhere.h"\n',
        'bench/run.c': '#include <base/log.h>\n#include "dpdk/errno.h"\n',
    }
    with tree.Bad(bad) as root:
        tree.expect(check(root), [
            'dpdk.h: include of rte_acl.h: is a DPDK', 'dpdk.h: include of sys/types.h',
            'dpdk.h: include of base.h', "rooms are ['arena', 'base']",
            'log.c: include of log.h: is to be written "base/log.h"',
            'log.c: include of arena/arena.h: room base comes before room arena',
            'units.c: include of base/log.h: is to be written', 'units.c: include of rte_eal.h',
            'room attic is not in the list', 'files of libhpmem/ live in rooms',
            'pool.c: include of ../libhpmem/base/log.h: is private',
            'pool.c: include of cli/json.h: dpdk/ does not know cli/',
            'parse.c: include of arena/arena.h: is private', 'parse.c: include of nowhere.h',
            'run.c: include of base/log.h: is private', 'bench/ does not know dpdk/'])


tree.main(check, self_test)
