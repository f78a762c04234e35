# SPDX-License-Identifier: BSD-3-Clause
"""--mem chooses where tables live and nothing else: packets, sessions and tags are the same in every
place on base pages, each packet is accounted for, and pages touched are counted."""

import re
import subprocess

import frames
import fwd
from frames import frame, ipv4, udp

PLACES = ['naive', 'dpdk', 'hpm:4K']
RULE = '@10.1.0.0/16\t10.2.0.0/16\t0 : 65535\t0 : 65535\t0x00/0x00\n'


class Modes(fwd.Scratch):
    def half_routed(self):
        """Routes for half of all addresses, so that what is dropped depends on the flows drawn."""
        return ['--routes', self.file('routes', '0.0.0.0/1 0\n')]

    def made(self, *more):
        """The summary of a small run over packets made up."""
        return self.answer(fwd.SMALL + ['--packets', '3000'] + list(more))[0]

    def test_every_table_is_told_with_its_pages_in_every_place(self):
        for place in PLACES:
            with self.subTest(place):
                summary = self.made('--mem', place, '--generate', 'uniform')
                self.assertEqual(summary['mem'], place)
                tags = fwd.TAGS + (['hpm-meta'] if place.startswith('hpm') else [])
                self.assertEqual(sorted(table['tag'] for table in summary['tables']), sorted(tags))
                for table in summary['tables'] + [summary['total']]:
                    self.assertIsNone(table['why'], table)
                    self.assertGreater(table['bytes'], 0, table)
                    self.assertEqual(list(table['pages']), ['4096'], table)
                    held = sum(int(size) * n for size, n in table['pages'].items())
                    self.assertGreaterEqual(held, table['bytes'], table)

    def test_each_packet_touches_every_table_but_the_pools_bitmaps(self):
        for place in PLACES:
            with self.subTest(place):
                summary = self.made('--mem', place, '--generate', 'uniform')
                self.assertGreaterEqual(summary['window']['one_packet_windows'], 200)
                self.assertGreater(summary['window']['packets'], 0)
                means = {table['tag']: table['touched_per_packet'] for table in summary['tables']}
                for tag in fwd.TAGS:
                    self.assertGreaterEqual(means[tag], 1 if tag != 'eal' else 0, tag)
                # One object, on one page. rte_malloc mixes the three kinds on its pages and lays
                # some across two: a page touched for one of them counts for all that lie on it.
                for tag in ('session', 'meter', 'stats'):
                    self.assertLessEqual(means[tag], 6 if place == 'dpdk' else 1, tag)
                self.assertEqual(means.get('hpm-meta', 0), 0)
                total = summary['total']['touched_per_packet']
                self.assertLessEqual(total, sum(means.values()) + 0.01)
                self.assertGreaterEqual(total, max(means.values()))

    def test_a_generator_makes_exactly_the_packets_asked_for(self):
        for place, kind, packets in [('naive', 'zipf:1.1', 2999), ('dpdk', 'active:7', 1000),
                                     ('hpm:4K', 'uniform', 1), ('hpm:4K', 'active:200', 33),
                                     ('hpm:4K', 'zipf:0.5', 20000)]:
            with self.subTest(place=place, kind=kind, packets=packets):
                summary = self.made('--mem', place, '--generate', kind, '--packets', packets)
                self.assertEqual(summary['packets']['in'], packets)
                self.assertEqual(summary['packets']['warm_up'], 200)
                self.assertEqual(summary['sessions'], 200)

    def test_one_seed_is_one_run_whatever_the_place(self):
        common = ['--generate', 'zipf:1.2'] + self.half_routed()
        first, *same = [self.made('--mem', place, '--seed', '7', *common)['packets']
                        for place in PLACES + PLACES[:1]]
        self.assertEqual(same, [first] * len(PLACES))
        self.assertGreater(first['dropped']['no_route'], 0)
        other = self.made('--mem', 'hpm:4K', '--seed', '8', *common)['packets']
        self.assertNotEqual(other, first)

    def test_what_was_not_measured_is_unknown_and_says_why(self):
        few = self.made('--mem', 'hpm:4K', '--generate', 'uniform', '--packets', '400')
        self.assertEqual(few['window']['one_packet_windows'], 100)
        for table in few['tables']:
            self.assertIsNone(table['touched_per_packet'])
            self.assertIn('100 one-packet windows', table['why'])
        none = self.made('--mem', 'hpm:4K', '--generate', 'uniform', '--window', '0')
        self.assertIsNone(none['window'])
        for table in none['tables']:
            self.assertIsNone(table['touched_per_packet'])
            self.assertIn('no window', table['why'])

    def test_a_full_session_table_drops_new_flows_and_keeps_old_ones(self):
        flows = [frame(ipv4(udp(sport=port))) for port in (1, 2, 3, 1, 4, 2, 3)]
        common = ['--rules', self.file('rules', RULE), '--routes', self.file('routes', '0.0.0.0/0 0'),
                  '--pcap-in', self.file('in.pcap', frames.capture(flows))]
        for place in PLACES:
            for sessions, full in [(1, 5), (3, 1)]:
                with self.subTest(place=place, sessions=sessions):
                    summary, _ = self.answer(common + ['--mem', place, '--sessions', sessions])
                    self.assertEqual(summary['sessions'], sessions)
                    self.assertEqual(summary['packets']['dropped'].get('session_full', 0), full)

    def test_a_rate_polices_and_none_does_not(self):
        slow = self.made('--mem', 'hpm:4K', '--generate', 'active:1', '--cir', '1000')
        self.assertGreater(slow['packets']['dropped']['policed'], 0)
        self.assertGreater(slow['packets']['forwarded'], 0)
        free = self.made('--mem', 'hpm:4K', '--generate', 'active:1')
        self.assertEqual(free['packets']['dropped'], {})


class Text(fwd.Scratch):
    """The answer for people and the one for programs are the same."""

    ROW = re.compile(r'^(\S+) +\S+ \S?i?B +4 KiB +(\d+) +(\d+) +(\S+)$', re.M)

    def test_both_answers_agree(self):
        packets = [frame(ipv4(udp(sport=port % 50), ttl=port % 5)) for port in range(1500)]
        common = ['--rules', self.file('rules', RULE), '--routes', self.file('routes', '0.0.0.0/0 0'),
                  '--sessions', '100', '--pcap-in', self.file('in.pcap', frames.capture(packets))]
        for place in PLACES:
            with self.subTest(place):
                summary, _ = self.answer(common + ['--mem', place])
                done = fwd.run(common + ['--mem', place])
                self.assertEqual(done.status, fwd.DONE, done.err)
                self.compare(done.out, summary)

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        for form in ([], ['--json']):
            with self.subTest(form), open('/dev/full', 'w', encoding='ascii') as full:
                done = subprocess.run(fwd.command(fwd.SMALL + ['--mem', 'hpm:4K', '--generate',
                                                               'uniform', '--packets', '10'] + form),
                                      stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, fwd.CANNOT)
                self.assertIn('No space left', done.stderr)

    def compare(self, text, summary):
        counts = summary['packets']
        self.assertEqual(counts['dropped'], {'ttl_expired': 600})
        self.assertIn(f'hpfwd    --mem {summary["mem"]}, {summary["traffic"]}\n', text)
        self.assertEqual(summary['sessions'], 50)
        self.assertIn('tables   1 rules, 50 of 100 sessions, 1 routes\n', text)
        self.assertIn('packets  1500 in = 900 forwarded + 600 dropped\n', text)
        self.assertRegex(text, r'\n +600  ttl_expired ')
        rows = {tag: rest for tag, *rest in self.ROW.findall(text)}
        tables = {table['tag']: table for table in summary['tables']}
        self.assertEqual(list(rows), list(tables) + ['total'])
        for tag, (held, touched, mean) in rows.items():
            table = tables.get(tag, summary['total'])
            if tag in ('mbuf', 'rings', 'eal', 'total'):
                continue  # how DPDK lays its own out differs from run to run
            self.assertEqual(int(held), table['pages']['4096'], tag)
            self.assertEqual(int(touched), table['touched']['4096'], tag)
            self.assertAlmostEqual(float(mean), table['touched_per_packet'], delta=0.006, msg=tag)


if __name__ == '__main__':
    fwd.main()
