# SPDX-License-Identifier: BSD-3-Clause
"""Runs hpfwd for the tests beside this file, and knows what holds for every run: no sanitizer speaks,
an answer comes on stdout or one sentence on stderr, and each packet is forwarded or dropped for a
reason. The program is named by the environment (HPFWD)."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.environ.get('HPFWD', '')
BASE_PAGES = ['--no-huge', '--no-shconf', '--no-pci', '--no-telemetry', '-m', '256']
SMALL = ['--rules', 'gen:acl:20', '--sessions', '200']
TIMEOUT = 120  # seconds; a run takes one, sanitizers and a busy machine included some more
SKIP = 77

DONE, DAMAGED, USAGE, CANNOT = 0, 1, 2, 3
SANITIZERS = ('AddressSanitizer', 'LeakSanitizer', 'UndefinedBehaviorSanitizer', 'runtime error:')
TAGS = ['acl', 'hash', 'session', 'meter', 'stats', 'lpm', 'counters', 'mbuf', 'rings', 'eal']


class Run:
    """What a run that has ended said."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err
        # DPDK speaks too, each line with its part's name in capitals
        self.said = [line for line in err.splitlines() if line.startswith('hpfwd:')]

    def sanitizer(self):
        """The first line of a sanitizer's report, or None."""
        for line in self.err.splitlines():
            if any(name in line for name in SANITIZERS):
                return line
        return None

    def summary(self):
        return json.loads(self.out)


def command(args, eal=None):
    return [PROGRAM] + (BASE_PAGES if eal is None else eal) + ['--'] + [str(a) for a in args]


def run(args, eal=None, stdin='', timeout=TIMEOUT):
    done = subprocess.run(command(args, eal), input=stdin, capture_output=True, text=True,
                          errors='replace', timeout=timeout, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


def lost(packets):
    """Packets in that are neither forwarded nor dropped: 0."""
    return packets['in'] - packets['forwarded'] - sum(packets['dropped'].values())


class Scratch(unittest.TestCase):
    """A test with a directory of its own for files."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix='hpfwd-test-')
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def file(self, name, content):
        path = self.dir / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    def answer(self, args, eal=None, status=DONE, **more):
        """The summary of a run that ends with this status and an answer."""
        done = run(list(args) + ['--json'], eal, **more)
        self.assertIsNone(done.sanitizer(), done.err)
        self.assertEqual(done.status, status, done.err)
        summary = done.summary()
        self.check(summary)
        self.assertEqual(summary['hpmem']['exit'], status)
        if status == DONE:
            self.assertEqual(done.said, [])
        return summary, done

    def check(self, summary):
        """What holds for every summary."""
        self.assertEqual(lost(summary['packets']), 0, summary['packets'])
        self.assertTrue(all(n > 0 for n in summary['packets']['dropped'].values()))
        for table in summary['tables'] + [summary['total']]:
            for size, touched in table['touched'].items():
                if touched is None:
                    self.assertTrue(table['why'], table)
                else:
                    self.assertLessEqual(touched, table['pages'][size], table)
            if table['touched_per_packet'] is None:
                self.assertTrue(table['why'], table)
        if summary['ns_per_packet'] is None:
            self.assertTrue(summary['ns_why'])

    def refusal(self, args, eal=None, status=CANNOT, **more):
        """The one sentence of a run that ends with this status and without an answer."""
        done = run(args, eal, **more)
        self.assertIsNone(done.sanitizer(), done.err)
        self.assertEqual(done.status, status, done.err)
        self.assertEqual(done.out, '')
        self.assertEqual(len(done.said), 1, done.err)
        return done.said[0]


def hugepages():
    """{page bytes: {'free': n, 'nr': n, 'nr_overcommit': n}} of this machine."""
    pools = {}
    for pool in Path('/sys/kernel/mm/hugepages').glob('hugepages-*kB'):
        kib = int(pool.name[len('hugepages-'):-len('kB')])
        pools[kib << 10] = {what: int((pool / f'{what}_hugepages').read_text())
                            for what in ('free', 'nr', 'nr_overcommit')}
    return pools


def free_pages():
    return {size: pool['free'] for size, pool in hugepages().items()}


def pages_missing(before, seconds=3):
    """Page sizes with fewer free pages than before. Others on this machine take and return pages
    too, so that it looks for a while."""
    end = time.monotonic() + seconds
    while True:
        now = free_pages()
        missing = {size: n - now[size] for size, n in before.items() if now[size] < n}
        if not missing or time.monotonic() > end:
            return missing
        time.sleep(0.1)


def skip(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(SKIP)


def main():
    if not os.access(PROGRAM, os.X_OK):
        sys.exit('HPFWD does not name the program to test')
    unittest.main()
