# SPDX-License-Identifier: BSD-3-Clause
"""What the command says when asked wrongly, and how it ends."""

import tempfile
import unittest
from pathlib import Path

from command import COLUMNS, HOSTS, main, run

WRONG = [  # words, what the one line must hold
    ([], '--help'),
    (['topoo'], "'topo'"),
    (['tpo'], "'topo'"),
    (['cpid'], "'cpuid'"),
    (['--versoin'], "'--version'"),
    (['-h'], 'hpmem --help'),
    (['frobnicate'], 'hpmem --help'),
    ([''], 'hpmem --help'),
    (['x' * 5000], 'hpmem --help'),
    (['topo', '--jsn'], "'--json'"),
    (['topo', '--rot=/'], "'--root'"),
    (['topo', '--hlp'], "'--help'"),
    (['topo', '--frobnicate'], 'hpmem topo --help'),
    (['topo', '--' + 'j' * 5000], 'hpmem topo --help'),
    (['topo', '--'], '--'),
    (['topo', '-j'], "'-j'"),
    (['topo', 'node0'], "'node0'"),
    (['topo', '--json=yes'], "'--json' takes no value"),
    (['topo', '--root'], "'--root' takes DIR"),
    (['topo', '--root='], "'--root' takes DIR"),
    (['topo', '--root', ''], "'--root' takes DIR"),
]


class Usage(unittest.TestCase):
    def test_wrong_words_end_2_with_one_line_and_the_nearest_right_one(self):
        for words, hint in WRONG:
            with self.subTest(words=[word[:20] for word in words]):
                status, out, err = run(*words)
                self.assertEqual((status, out), (2, ''))
                self.assertTrue(err.startswith('hpmem: '), err)
                self.assertEqual(err.count('\n'), 1)
                self.assertIn(hint, err)

    def test_help_and_version_go_to_stdout_and_end_0(self):
        for words in (['--help'], ['topo', '--help'], ['cpuid', '--help'], ['--version'],
                      ['topo', '--root', '/nowhere', '--help']):
            with self.subTest(words=words):
                status, out, err = run(*words)
                self.assertEqual((status, err), (0, ''))
                self.assertTrue(all(len(line) < COLUMNS for line in out.splitlines()))
        self.assertRegex(run('--version')[1], r'^hpmem \d+\.\d+\.\d+ ')

    def test_help_names_every_option_that_is_taken(self):
        for verb in ('topo', 'cpuid'):
            out = run(verb, '--help')[1]
            for option in ('--json', '--root DIR', '--help'):
                self.assertIn(option, out)
            self.assertIn(verb, run('--help')[1])

    def test_value_of_an_option_stands_behind_a_blank_or_an_equals_sign(self):
        host = HOSTS / 'made-two-nodes'
        first, second = run('topo', '--root', host), run('topo', f'--root={host}')
        self.assertEqual(first, second)
        self.assertEqual(first[0], 0)

    def test_root_that_is_no_host_ends_3_and_names_it(self):
        with tempfile.TemporaryDirectory() as empty:
            plain = Path(empty) / 'plain'
            for verb in ('topo', 'cpuid'):
                for root in (empty, f'{empty}/absent', plain):
                    status, out, err = run(verb, '--root', root)
                    self.assertEqual((status, out, err.count('\n')), (3, '', 1))
                    self.assertIn(str(root), err)
                    plain.touch()

    def test_host_without_cpuid_ends_3_only_for_cpuid(self):
        with tempfile.TemporaryDirectory() as host:
            (Path(host) / 'proc').mkdir()
            self.assertEqual(run('topo', '--root', host)[0], 0)
            status, out, err = run('cpuid', '--root', host)
            self.assertEqual((status, out), (3, ''))
            self.assertIn('hpm/cpuid.txt', err)

    @unittest.skipUnless(Path('/dev/full').exists(), 'no /dev/full')
    def test_result_that_cannot_be_written_ends_3(self):
        for words in (['topo'], ['topo', '--json'], ['cpuid', '--root', HOSTS / 'made-two-nodes'],
                      ['--help']):
            with open('/dev/full', 'wb') as full:
                status, _, err = run(*words, stdout=full)
            self.assertEqual(status, 3)
            self.assertIn('could not be written', err)


main()
