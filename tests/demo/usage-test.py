# SPDX-License-Identifier: BSD-3-Clause
"""Who asks hpfwd wrongly gets status 2, nothing on stdout and one line that says what is wrong."""

import subprocess
import unittest

import fwd

RULES = ['--rules', 'gen:acl:20']


class WrongUsage(fwd.Scratch):
    def wrong(self, *args):
        done = fwd.run(args)
        self.assertIsNone(done.sanitizer(), done.err)
        self.assertEqual(done.status, fwd.USAGE, done.err)
        self.assertEqual(done.out, '')
        self.assertEqual(len(done.err.splitlines()), 1, done.err)
        self.assertTrue(done.err.startswith('hpfwd: '), done.err)
        return done.err

    def test_an_unknown_option_is_answered_with_the_nearest_one(self):
        for wrong, near in [('--sesions', '--sessions'), ('--ruels', '--rules'),
                            ('--packet-count', '--packets'), ('--pcap-inn', '--pcap-in'),
                            ('--jsn', '--json'), ('--winodw', '--window')]:
            with self.subTest(wrong):
                said = self.wrong(*RULES, wrong, '5')
                self.assertIn(f"'{wrong}'", said)
                self.assertIn(f'did you mean {near}?', said)

    def test_an_option_like_no_other_is_answered_with_the_way_to_help(self):
        self.assertIn('--help', self.wrong(*RULES, '--xyz'))

    def test_an_unknown_letter_is_named(self):
        self.assertIn("'-x'", self.wrong(*RULES, '-x'))
        self.assertIn("'-x'", self.wrong(*RULES, '-xy'))

    def test_an_option_without_its_value_is_named(self):
        self.assertIn('--rules needs a value', self.wrong('--rules'))
        self.assertIn('--seed needs a value', self.wrong(*RULES, '--seed'))

    def test_numbers_are_taken_strictly_and_the_range_is_told(self):
        for option in ['--sessions', '--packets', '--seed', '--window', '--cir']:
            for value in ['', '-1', '1x', ' 1', '0x10', '1e3', '99999999999999999999']:
                with self.subTest(option=option, value=value):
                    said = self.wrong(*RULES, option, value)
                    self.assertIn(option, said)
                    self.assertIn(f"'{value}'", said)
        self.assertIn('60000', self.wrong(*RULES, '--window', '60001'))
        self.assertIn(str(1 << 26), self.wrong(*RULES, '--sessions', (1 << 26) + 1))

    def test_no_session_at_all_is_refused(self):
        self.assertIn('--sessions 0', self.wrong(*RULES, '--sessions', '0'))

    def test_an_unknown_place_is_answered_with_those_there_are(self):
        for value in ['hpm:3M', 'HPM', 'naive:4K', '']:
            with self.subTest(value):
                self.assertIn('naive, dpdk, hpm', self.wrong(*RULES, '--mem', value))

    def test_without_rules_nothing_runs(self):
        self.assertIn('--rules is missing', self.wrong('--sessions', '10'))

    def test_a_malformed_generator_of_rules_is_wrong_usage(self):
        for spec in ['gen:', 'gen:acl', 'gen:xyz:5', 'gen:acl:0', 'gen:acl:-1', 'gen:acl:5x',
                     'gen:acl:4294967296']:
            with self.subTest(spec):
                self.assertIn(f"'{spec}'", self.wrong('--rules', spec))

    def test_a_malformed_generator_of_traffic_is_wrong_usage(self):
        for spec in ['', 'unifrom', 'zipf', 'zipf:', 'zipf:-1', 'zipf:nan', 'active:', 'active:0',
                     'active:201']:
            with self.subTest(spec):
                self.assertIn(f"'{spec}'", self.wrong(*fwd.SMALL, '--generate', spec))

    def test_two_sources_of_packets_are_one_too_many(self):
        said = self.wrong(*RULES, '--pcap-in', 'x.pcap', '--generate', 'uniform')
        self.assertIn('one source', said)
        self.assertIn('--turns', self.wrong(*RULES, '--pcap-in', 'x.pcap', '--turns'))

    def test_a_word_that_is_no_option_is_named(self):
        self.assertIn("'stray'", self.wrong(*RULES, 'stray'))

    def test_what_eal_rejects_leaves_stdout_to_results(self):
        self.assertIn('EAL does not start', self.refusal(RULES + ['--mem', 'dpdk'], ['--bogus']))

    def test_a_forgotten_double_dash_is_told_first(self):
        done = subprocess.run([fwd.PROGRAM, '--rules', 'gen:acl:20'], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (fwd.USAGE, ''))
        self.assertIn("'--' is missing", done.stderr.splitlines()[0])

    def test_a_very_long_value_is_cut(self):
        self.assertLess(len(self.wrong(*RULES, '--seed', '9' * 10000)), 200)


class Help(unittest.TestCase):
    def test_help_goes_to_stdout_and_names_every_option(self):
        for args in [['--', '--help'], ['--help']]:
            done = subprocess.run([fwd.PROGRAM] + args, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (fwd.DONE, ''))
            for option in ['rules', 'routes', 'sessions', 'mem', 'pcap-in', 'pcap-out', 'generate',
                           'seed', 'packets', 'window', 'cir', 'json', 'turns']:
                self.assertIn(f'--{option}', done.stdout)


if __name__ == '__main__':
    fwd.main()
