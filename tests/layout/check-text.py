# SPDX-License-Identifier: BSD-3-Clause
"""Every file in the tree is text that would read the same on any machine: no path of the machine it
was written on, no binary, a licence line in each source file, and shell scripts that parse."""

import os
import re
import subprocess
from pathlib import Path

import tree

# Spelt in two parts so that this file passes its own check.
MACHINE = re.compile(r'(?<![\w.])/(?:' + 'wo' + r'rk|fa' + r'rm)/|/tmp/' + r'wt\b|/home/\w+/')
LICENSED = {'.c', '.h', '.def', '.sh', '.py'}
FIRST_LINES = 3
# What a fixture is made of is the machine it was captured on; bytes are the point of a capture.
FIXTURES = ('tests', 'fixtures')
BINARY_FIXTURES = {'.pcap', '.pcapng', '.bin'}


def is_shell(path, text):
    return path.suffix == '.sh' or re.match(r'#!.*\b(ba|da)?sh\b', text) is not None


def check_shell(root, path):
    parsed = subprocess.run(['bash', '-n', str(Path(root) / path)], capture_output=True, text=True,
                            check=False)
    return [] if parsed.returncode == 0 else [f'{path}: does not parse: {parsed.stderr.strip()}']


def check_text(path, data):
    if b'\0' in data:
        return [] if path.suffix in BINARY_FIXTURES else [f'{path}: is not text']
    problems = []
    text = data.decode('utf-8', 'replace')
    if '\ufffd' in text and path.suffix not in BINARY_FIXTURES:
        problems.append(f'{path}: is not UTF-8')
    for number, line in enumerate(text.splitlines(), 1):
        found = MACHINE.search(line)
        if found:
            problems.append(f'{path}:{number}: names a path of one machine: {found.group()}')
    return problems


def check(root):
    problems = []
    for path in tree.files(root):
        full = Path(root) / path
        if full.is_symlink():
            if os.path.isabs(os.readlink(full)):
                problems.append(f'{path}: links to an absolute path')
            continue
        data = full.read_bytes()
        if path.parts[:2] == FIXTURES:
            continue
        problems += check_text(path, data)
        text = data.decode('utf-8', 'replace')
        shell = is_shell(path, text)
        if path.suffix in LICENSED or shell:
            if not any('SPDX-License-Identifier: BSD-3-Clause' in line
                       for line in text.splitlines()[:FIRST_LINES]):
                problems.append(f'{path}: no SPDX line at its top')
        if shell:
            problems += check_shell(root, path)
    return problems


def self_test():
    spdx = 'SPDX-License-Identifier: BSD-3-Clause'
    good = {
        'a.c': f'/* {spdx} */\n', 'run.sh': f'#!/bin/bash\n# {spdx}\nexit 0\n',
        'doc/a.md': 'see /sys/kernel, frame' + 'wo' + 'rk/x and /mnt/huge\n',
        'tests/fixtures/host/proc/x': b'\0', 'tests/pcap/a.pcap': b'\0\xff',
    }
    with tree.Bad(good) as root:
        tree.expect(check(root), [])
    bad = {
        'bare.c': 'int a;\n',
        'late.py': '\n' * 5 + f'# {spdx}\n',
        'broken.sh': f'# {spdx}\nif true; then\n',
        '.ci/run': f'#!/bin/sh\n# {spdx}\nfor\n',
        'program': b'\x7fELF\0\0',
        'latin.txt': b'caf\xe9\n',
        'doc/here.md': 'fine\nbuilt in /' + 'work/main today\n',
    }
    with tree.Bad(bad) as root:
        os.symlink('/etc/passwd', f'{root}/away')
        tree.expect(check(root), [
            'bare.c: no SPDX', 'late.py: no SPDX', 'broken.sh: does not parse',
            '.ci/run: does not parse', 'program: is not text', 'latin.txt: is not UTF-8',
            'doc/here.md:2: names a path', 'away: links to an absolute'])


tree.main(check, self_test)
