# SPDX-License-Identifier: BSD-3-Clause
"""The core stands without DPDK, and other people's builds can use it: through its pkg-config file,
shared and static, and as a meson subproject.

check-core-alone.py ROOT COMPILER [ARGUMENT...]

Each way ends with running tests/layout/app.c, built with the warnings a strict user has."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import tree

STRICT = ['-std=gnu11', '-Wall', '-Wextra', '-pedantic', '-Werror']
APP = 'tests/layout/app.c'
SAYS = 'one table of one megabyte'

PARENT = '''project('parent', 'c', version: '1',
  default_options: ['c_std=c11', 'warning_level=3', 'werror=true'])
hpm = dependency('libhpmem', fallback: 'libhpmem', default_options: ['dpdk=disabled'])
add_project_arguments('-D_GNU_SOURCE', language: 'c')
executable('app', 'app.c', dependencies: hpm)
'''


class Failed(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise Failed(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def run_app(app, **environment):
    said = run(app, env=os.environ | environment).strip()
    if said != SAYS:
        raise Failed(f'{app} said {said!r}')


def install(root, scratch):
    """Configures, builds and installs the core; returns the directory of its .pc file."""
    run('meson', 'setup', scratch / 'build', root, f'--prefix={scratch / "usr"}', '-Ddpdk=disabled',
        '-Dtests=disabled', '-Dwerror=true')
    run('meson', 'install', '-C', scratch / 'build')
    found = list((scratch / 'usr').rglob('libhpmem.pc'))
    if len(found) != 1:
        raise Failed(f'expected one libhpmem.pc, got {found}')
    return found[0].parent


def foreign(scratch, flags):
    """What DPDK would have left behind."""
    names = [str(path.relative_to(scratch)) for path in (scratch / 'usr').rglob('*')]
    return [f'-Ddpdk=disabled installs {name}' for name in names if 'dpdk' in Path(name).name] + [
        f'libhpmem.pc asks for {flag}' for flag in flags if 'rte_' in flag or 'dpdk' in flag]


def through_pkg_config(root, scratch, compiler):
    pc_dir = install(root, scratch)
    lib_dir = pc_dir.parent
    search = os.environ | {'PKG_CONFIG_PATH': str(pc_dir)}

    def flags(*options):
        return run('pkg-config', *options, 'libhpmem', env=search).split()

    def build(name, *libraries):
        run(*compiler, *STRICT, Path(root) / APP, '-o', scratch / name, *flags('--cflags'),
            *libraries)
        return scratch / name

    run_app(build('app-shared', *flags('--libs')), LD_LIBRARY_PATH=str(lib_dir))
    for shared in lib_dir.glob('libhpmem.so*'):
        shared.unlink()
    run_app(build('app-static', *flags('--static', '--libs')))
    return foreign(scratch, flags('--static', '--cflags', '--libs'))


def as_subproject(root, scratch):
    parent = scratch / 'parent'
    (parent / 'subprojects').mkdir(parents=True)
    (parent / 'subprojects/libhpmem').symlink_to(Path(root).resolve())
    (parent / 'meson.build').write_text(PARENT, encoding='utf-8')
    shutil.copy(Path(root) / APP, parent / 'app.c')
    run('meson', 'setup', scratch / 'parent-build', parent, '--force-fallback-for=libhpmem')
    run('ninja', '-C', scratch / 'parent-build')
    run_app(scratch / 'parent-build/app')
    extra = [path.name for name in ('cli', 'bench', 'demo', 'tests') for path in
             (scratch / 'parent-build/subprojects/libhpmem').glob(f'{name}/*') if path.is_file()]
    return [f'a subproject builds {name}, which nobody asked for' for name in extra]


def check(root, *compiler):
    problems = []
    with tempfile.TemporaryDirectory(prefix='hpm-core-') as scratch:
        for way in (through_pkg_config, as_subproject):
            try:
                arguments = (compiler,) if way is through_pkg_config else ()
                problems += way(root, Path(scratch), *arguments)
            except Failed as failure:
                problems.append(f'{way.__name__}: {failure}')
    return problems


def self_test():
    with tree.Bad({'usr/include/hpm/dpdk.h': '', 'usr/lib/libhpmem.a': '', 'app': '#!/bin/sh\n'}
                  ) as scratch:
        tree.expect(foreign(Path(scratch), ['-lhpmem', '-lrte_eal']),
                    ['installs usr/include/hpm/dpdk.h', 'asks for -lrte_eal'])
        os.chmod(f'{scratch}/app', 0o755)
        for command in (lambda: run_app(f'{scratch}/app'), lambda: run('false')):
            try:
                command()
            except Failed:
                continue
            raise AssertionError('a failure was not noticed')
    with tree.Bad({'meson.build': "project('libhpmem', 'c')\n", APP: ''}) as root:
        tree.expect(check(root, 'cc'), ['through_pkg_config: ', 'as_subproject: '])


tree.main(check, self_test)
