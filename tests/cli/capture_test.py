# SPDX-License-Identifier: BSD-3-Clause
"""scripts/capture-host.sh: a capture shows what this host shows, and nothing else of it."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import HPMEM, ROOT, ask, main, run

SCRIPT = ROOT / 'scripts/capture-host.sh'
HPMEM_PATH = Path(HPMEM).resolve()


def capture(*args, hpmem=HPMEM_PATH):
    done = subprocess.run([SCRIPT, *args], capture_output=True, text=True, check=False,
                          env=os.environ | {'HPMEM': str(hpmem)})
    return done.returncode, done.stdout, done.stderr


def lasting(host):
    """What does not change while other programs come and go."""
    for node in host['nodes']:
        del node['free_bytes']
    for pool in host['pools'] + [pool for node in host['nodes'] for pool in node['pools']]:
        for key in ('total_pages', 'free_pages', 'promised_pages', 'surplus_pages'):
            del pool[key]
    del host['mounts']
    return host


class Capture(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name) / 'a host'

    def test_capture_shows_what_the_host_shows(self):
        status, out, err = capture(self.dir)
        self.assertEqual((status, err), (0, ''))
        self.assertEqual(lasting(ask('topo', '--root', self.dir)['host']),
                         lasting(ask('topo')['host']))
        files = [path for path in self.dir.rglob('*') if path.is_file()]
        for path in files:
            self.assertIn(f'./{path.relative_to(self.dir)}\n', out)
        self.assertLess(sum(path.stat().st_size for path in files), 2**20)

    def test_of_the_mounts_only_hugetlbfs_is_taken(self):
        capture(self.dir)
        for line in (self.dir / 'proc/mounts').read_text().splitlines():
            self.assertEqual(line.split()[2], 'hugetlbfs')

    def test_directory_that_holds_something_is_left_alone(self):
        self.dir.mkdir()
        (self.dir / 'mine').write_text('x')
        status, out, err = capture(self.dir)
        self.assertEqual((status, out), (2, ''))
        self.assertIn('not empty', err)
        self.assertEqual([path.name for path in self.dir.iterdir()], ['mine'])

    def test_wrong_words_end_2_and_a_missing_command_ends_3(self):
        self.assertEqual(capture()[0], 2)
        self.assertEqual(capture(self.dir, 'b')[0], 2)
        self.assertEqual(capture('')[0], 2)
        status, _, err = capture(self.dir, hpmem='/nowhere/hpmem')
        self.assertEqual(status, 3)
        self.assertIn('/nowhere/hpmem', err)
        self.assertFalse(self.dir.exists())

    def test_cpu_that_says_nothing_is_captured_without_cpuid(self):
        fake = self.dir.parent / 'hpmem'
        fake.write_text('#!/bin/sh\nexit 3\n')
        fake.chmod(0o755)
        self.assertEqual(capture(self.dir, hpmem=fake)[0], 0)
        self.assertFalse((self.dir / 'hpm/cpuid.txt').exists())
        self.assertEqual(run('topo', '--root', self.dir)[0], 0)


main()
