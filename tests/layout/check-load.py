# SPDX-License-Identifier: BSD-3-Clause
"""Loading libhpmem opens what doc/load-time.md says, and nothing of ours runs before main().

check-load.py ROOT SHARED_LIBRARY STATIC_LIBRARY OPENED LOADS

OPENED runs a program and prints the files it opened; LOADS is a program that only links the library.
The static library holds our objects and nothing of the toolchain's, so that a constructor in it is
ours (crtbegin.o always brings frame_dummy into the shared one)."""

import fnmatch
import re
import subprocess
from pathlib import Path

import tree

# Nobody asked the library to do these (threads, handlers, environment).
UNASKED = {'getenv', 'secure_getenv', 'pthread_create', 'thrd_create', 'clone', 'fork', 'sigaction',
           'signal', 'atexit'}
LOADER = re.compile(r'(linux-vdso|linux-gate|ld-linux|ld64\.so|ld-)')


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def documented(text, heading):
    """First column of the table below a heading."""
    part = re.search(rf'^## {heading}\n(.*?)(?=^## |\Z)', text, re.M | re.S)
    return re.findall(r'^\| `([^`]+)` \|', part.group(1), re.M) if part else []


def closure(ldd):
    """Every library the loader would open, from ldd's words; its own name is the architecture's."""
    names = {Path(line.split()[0]).name for line in ldd.splitlines() if line.strip()}
    return {name for name in names if not LOADER.match(name)}


def constructors(sections):
    """Sections that run before main(), from readelf -SW."""
    return sorted(set(re.findall(r'\s(\.(?:preinit_array|init_array|ctors|init)(?:\.\w+)?)\s',
                                 sections)))


def unasked(symbols):
    """Names from nm -u that a library has no business with."""
    return sorted({line.split()[-1] for line in symbols.splitlines() if ' U ' in line} & UNASKED)


def judge_libraries(names, listed):
    listed = {name for name in listed if not LOADER.match(name)}
    problems = [f'loads {name}, which is not documented' for name in sorted(names - listed)]
    problems += [f'{name} is documented but not loaded' for name in sorted(listed - names)]
    return problems


def judge_opened(paths, files, libraries):
    """Each path is a documented file or library; /proc/self/status proves that we saw any."""
    problems = []
    for path in sorted(set(paths)):
        name = Path(path).name
        if any(fnmatch.fnmatch(path, pattern) for pattern in files):
            continue
        if not any(fnmatch.fnmatch(name, pattern) for pattern in libraries):
            problems.append(f'opens {path} at load time, which is not documented')
    if '/proc/self/status' not in paths:
        problems.append("libnuma's constructor was not seen at work")
    return problems


def opened_by(tracer, program):
    traced = subprocess.run([tracer, program], capture_output=True, text=True, check=False)
    if traced.returncode == tree.SKIP_STATUS:
        tree.skip('tracing is not permitted here (ptrace); libraries and constructors are right')
    if traced.returncode != 0:
        return None
    return traced.stdout.splitlines()


def check(root, shared, static, tracer, program):
    text = tree.read(root, 'doc/load-time.md')
    libraries, files = documented(text, 'Libraries'), documented(text, 'Files')
    problems = judge_libraries(closure(output('ldd', shared)), libraries)
    problems += [f'{section} in our objects: something runs before main()'
                 for section in constructors(output('readelf', '-SW', static))]
    problems += [f'our objects call {name}()' for name in unasked(output('nm', '-A', static))]
    if problems:
        return problems
    paths = opened_by(tracer, program)
    if paths is None:
        return [f'{program} failed']
    return judge_opened(paths, files, libraries + [f'{Path(shared).name.split(".so")[0]}.so*'])


def self_test():
    text = '# t\n| `no` | x |\n## Libraries\n| `libc.so.6` | C |\n## Files\n| `/a` | b |\n'
    assert documented(text, 'Libraries') == ['libc.so.6'] and documented(text, 'Files') == ['/a']
    assert closure('\tlinux-vdso.so.1 (0x7)\n\tlibc.so.6 => /lib/libc.so.6 (0x7)\n'
                   '\t/lib64/ld-linux-x86-64.so.2 (0x7)\n') == {'libc.so.6'}
    tree.expect(judge_libraries({'libc.so.6', 'librte_eal.so.23'}, ['libc.so.6', 'libnuma.so.1']),
                ['loads librte_eal', 'libnuma.so.1 is documented'])
    tree.expect(judge_opened(['/sys/n/node0/m', '/lib/libc.so.6', '/lib/libhugetlbfs.so.0'],
                             ['/sys/n/node*/m'], ['libc.so.6']),
                ['opens /lib/libhugetlbfs.so.0', 'not seen at work'])
    source = ('#include <stdlib.h>\n__attribute__((constructor)) static void early(void)\n'
              '{\n\tif (getenv("X"))\n\t\tabort();\n}\n')
    with tree.Bad({'bad.c': source, 'good.c': 'int x;\n'}) as root:
        for name in ('bad', 'good'):
            subprocess.run(['cc', '-c', '-o', f'{root}/{name}.o', f'{root}/{name}.c'], check=True)
        assert constructors(output('readelf', '-SW', f'{root}/bad.o')) == ['.init_array']
        assert constructors(output('readelf', '-SW', f'{root}/good.o')) == []
        assert unasked(output('nm', '-A', f'{root}/bad.o')) == ['getenv']


tree.main(check, self_test)
