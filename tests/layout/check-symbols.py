# SPDX-License-Identifier: BSD-3-Clause
"""A shared library exports what its version map lists and its public headers declare HPM_API, no
more, no less.

check-symbols.py ROOT LIBRARY MAP [HEADER...] (all others in include/hpm when it begins with !)

A header of which nothing at all is exported belongs to a room that is not built yet: the check ends
as skipped and names it. A header of which something is missing is a failure."""

import re
import subprocess
from pathlib import Path

import tree


def declared(text):
    text = re.sub(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', '', tree.without_words(text), flags=re.M)
    return set(re.findall(r'\bHPM_API\b[^;{}]*?\b(hpm_\w+)\s*\(', text))


def in_map(text):
    """Names in the map and problems with its shape: one node, alphabetical, local: *."""
    text = tree.without_comments(re.sub(r'#.*', '', text))
    names = re.findall(r'\b(\w+);', text)
    problems = []
    if names != sorted(names):
        problems.append('names are not in alphabetical order')
    if len(names) != len(set(names)):
        problems.append('a name is listed twice')
    if not re.search(r'local:\s*\*;', text):
        problems.append('does not end in local: *;')
    return set(names), problems


def exported(library):
    out = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True,
                         check=True).stdout
    names = set()
    for line in out.splitlines():
        kind, name = line.split()[-2:]
        if kind != 'A':  # the version node itself
            names.add(name.split('@')[0])
    return names


def wanted_headers(root, names):
    public = [path.name for path in tree.files(root)
              if path.parts[:2] == ('include', 'hpm') and path.suffix == '.h']
    if names and names[0].startswith('!'):
        return [name for name in public if name not in {n.lstrip('!') for n in names}]
    return [name for name in public if not names or name in names]


def judge(symbols, mapped, headers):
    """headers: {name: declared names}. Returns problems and the headers nothing is built of."""
    problems, ahead = [], []
    problems += [f'{name} is in the map but not exported' for name in sorted(mapped - symbols)]
    problems += [f'{name} is exported but not in the map' for name in sorted(symbols - mapped)]
    known = set().union(*headers.values())
    problems += [f'{name} is exported but no public header declares it HPM_API'
                 for name in sorted(symbols - known)]
    for header, names in headers.items():
        if names and not names & symbols:
            ahead.append(header)
            continue
        problems += [f'{header} declares {name}, which is not exported'
                     for name in sorted(names - symbols)]
    return problems, ahead


def check(root, library, map_file, *names):
    mapped, problems = in_map(Path(map_file).read_text(encoding='utf-8'))
    problems = [f'{map_file}: {problem}' for problem in problems]
    headers = {name: declared(tree.read(root, Path('include/hpm') / name))
               for name in wanted_headers(root, names)}
    more, ahead = judge(exported(library), mapped, headers)
    problems += [f'{library}: {problem}' for problem in more]
    if ahead and not problems:
        tree.skip(f'nothing is built yet of {", ".join(ahead)}; the rest agrees')
    return problems


def self_test():
    assert declared(
        '#define HPM_API __attribute__((x("y")))\n/* HPM_API int hpm_no(void); */\n'
        'HPM_API HPM_MUST_USE int\nhpm_yes(int (*fn)(void));\nHPM_API void hpm_also(void);\n'
        'static inline int hpm_inline(void) { return 0; }\n') == {'hpm_yes', 'hpm_also'}
    names, problems = in_map('V {\nglobal:\n\thpm_b;\n\thpm_a; # why\n\thpm_a;\n};\n')
    assert names == {'hpm_a', 'hpm_b'}
    tree.expect(problems, ['alphabetical', 'twice', 'local'])
    assert in_map('V {\nglobal:\n\thpm_a;\nlocal:\n\t*;\n};\n') == ({'hpm_a'}, [])
    good = {'a.h': {'hpm_a', 'hpm_aa'}, 'b.h': {'hpm_b'}}
    assert judge({'hpm_a', 'hpm_aa'}, {'hpm_a', 'hpm_aa'}, good) == ([], ['b.h'])
    problems, ahead = judge({'hpm_a', 'hpm_c', 'leak'}, {'hpm_a', 'hpm_b', 'hpm_c'}, good)
    assert ahead == ['b.h']
    tree.expect(problems, [
        'hpm_b is in the map', 'leak is exported but not in the map',
        'hpm_c is exported but no public', 'leak is exported but no public',
        'a.h declares hpm_aa'])
    source = 'int hpm_a(void);\nint hpm_a(void) { return 0; }\nint leak(void) { return 1; }\n'
    with tree.Bad({'a.c': source}) as root:
        subprocess.run(['cc', '-shared', '-fPIC', '-o', f'{root}/a.so', f'{root}/a.c'], check=True)
        assert exported(f'{root}/a.so') == {'hpm_a', 'leak'}


tree.main(check, self_test)
