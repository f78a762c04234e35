#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What README.md shows is what the tree holds: its C example is a program that the tests run, and
the files and commands it names exist."""

import re
from pathlib import Path

import tree

EXAMPLE = 'examples/sessions.c'
BLOCK = re.compile(r'^```(\w*)\n(.*?)^```$', re.S | re.M)
LINK = re.compile(r'\]\(([^)#:\s]+)\)')
SCRIPT = re.compile(r'scripts/[\w.-]+')


def check(root):
    text = tree.read(root, 'README.md')
    problems = []
    shown = [body for language, body in BLOCK.findall(text) if language == 'c']
    run = tree.read(root, EXAMPLE).split('\n', 1)[1]  # without its SPDX line
    if run not in shown:
        problems.append(f'README.md: its C example is not {EXAMPLE}')
    for name in sorted(set(LINK.findall(text) + SCRIPT.findall(text))):
        if not (Path(root) / name).exists():
            problems.append(f'README.md: names {name}, which is not there')
    return problems


def self_test():
    code = 'int main(void)\n{\n}\n'
    good = {EXAMPLE: '/* SPDX */\n' + code, 'scripts/go.sh': '',
            'README.md': f'run `scripts/go.sh`\n```c\n{code}```\n[x](examples/sessions.c)\n'}
    with tree.Bad(good) as root:
        tree.expect(check(root), [])
    bad = dict(good)
    bad['README.md'] = '```c\nint main(void);\n```\n`scripts/gone.sh` [y](doc/none.md)\n'
    with tree.Bad(bad) as root:
        tree.expect(check(root), ['is not examples/sessions.c', 'scripts/gone.sh', 'doc/none.md'])


tree.main(check, self_test)
