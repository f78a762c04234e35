# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command share: running it, and where things are.

    X_test.py HPMEM ROOT [--update]     --update writes the golden files anew: read them after"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

HPMEM = sys.argv[1]
ROOT = Path(sys.argv[2])
UPDATE = '--update' in sys.argv[3:]
HOSTS = ROOT / 'tests/fixtures/hosts'
GOLDEN = ROOT / 'tests/cli/golden'
COLUMNS = 80


def run(*args, stdout=subprocess.PIPE):
    """(status, stdout, stderr) of the command."""
    done = subprocess.run([HPMEM, *map(str, args)], stdout=stdout, stderr=subprocess.PIPE,
                          check=False, env=os.environ | {'LC_ALL': 'C'})
    return done.returncode, (done.stdout or b'').decode(errors='replace'), done.stderr.decode()


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f'a key stands twice: {keys}')
    return dict(pairs)


def ask(*args):
    """The JSON of a verb that must succeed."""
    status, out, err = run(*args, '--json')
    if status != 0 or err:
        raise AssertionError(f'{args}: status {status}: {err}')
    return json.loads(out, object_pairs_hook=no_duplicates)


def main():
    unittest.main(argv=[sys.argv[0]], verbosity=2)
