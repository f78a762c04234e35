# SPDX-License-Identifier: BSD-3-Clause
"""Runs without an end: a signal ends them with status 0 and an answer in which every packet is
accounted for; ports of EAL; and turns, one round per line."""

import json
import signal
import subprocess
import time
from pathlib import Path

import fwd

NULL_PORT = fwd.BASE_PAGES + ['--vdev', 'net_null0']
RING_PORT = fwd.BASE_PAGES + ['--vdev', 'net_ring0']


def catches(pid, number):
    """Whether the process has its handler in place: before, a signal just ends it."""
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('SigCgt:'):
            return int(line.split()[1], 16) >> (number - 1) & 1 == 1
    return False


class Live(fwd.Scratch):
    def start(self, args, eal=None):
        process = subprocess.Popen(fwd.command(list(args) + ['--json'], eal), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until_running(self, process, number=signal.SIGINT):
        end = time.monotonic() + fwd.TIMEOUT
        while process.poll() is None and not catches(process.pid, number):
            self.assertLess(time.monotonic(), end, 'hpfwd does not get under way')
            time.sleep(0.02)

    def ended(self, process):
        """Its summary, after it ended well by itself."""
        out, err = process.communicate(timeout=fwd.TIMEOUT)
        done = fwd.Run(process.returncode, out, err)
        self.assertIsNone(done.sanitizer(), err)
        self.assertEqual(done.status, fwd.DONE, err)
        self.assertEqual(done.said, [])
        return done

    def stopped(self, process, number=signal.SIGINT, after=0.3):
        self.until_running(process, number)
        time.sleep(after)
        process.send_signal(number)
        summary = self.ended(process).summary()
        self.check(summary)
        return summary


class Ports(Live):
    def test_a_signal_ends_a_run_over_an_endless_port(self):
        for number, place in [(signal.SIGINT, 'hpm:4K'), (signal.SIGTERM, 'naive'),
                              (signal.SIGINT, 'dpdk')]:
            with self.subTest(number=number, place=place):
                process = self.start(fwd.SMALL + ['--mem', place], NULL_PORT)
                summary = self.stopped(process, number)
                self.assertEqual(summary['traffic'], 'port 0')
                # net_null's packets are zeros, which is no EtherType
                self.assertGreater(summary['packets']['in'], 0)
                self.assertEqual(summary['packets']['dropped'],
                                 {'other_ethertype': summary['packets']['in']})
                self.assertIsNotNone(summary['window'])

    def test_a_signal_ends_a_generator_before_its_end(self):
        process = self.start(fwd.SMALL + ['--mem', 'hpm:4K', '--generate', 'uniform',
                                          '--packets', str(1 << 40)])
        summary = self.stopped(process)
        self.assertGreater(summary['packets']['in'], 0)
        self.assertLess(summary['packets']['in'], 1 << 40)
        self.assertEqual(summary['packets']['forwarded'], summary['packets']['in'])

    def test_two_signals_at_once_are_as_good_as_one(self):
        process = self.start(fwd.SMALL + ['--mem', 'hpm:4K'], NULL_PORT)
        self.until_running(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        self.stopped(process, after=0)

    def test_a_silent_port_stops_as_well_and_says_what_it_could_not_count(self):
        summary = self.stopped(self.start(fwd.SMALL + ['--mem', 'hpm:4K'], RING_PORT))
        self.assertEqual(summary['packets']['in'], 0)
        self.assertIsNone(summary['ns_per_packet'])
        self.assertEqual(summary['window']['one_packet_windows'], 0)

    def test_packets_leave_by_the_ports_of_eal(self):
        for eal in (NULL_PORT, RING_PORT):
            summary, _ = self.answer(fwd.SMALL + ['--mem', 'hpm:4K', '--generate', 'uniform',
                                                  '--packets', '3000'], eal)
            packets = summary['packets']
            self.assertEqual(packets['in'], 3000)
            if eal is NULL_PORT:
                self.assertEqual(packets['forwarded'], 3000)
            else:
                # nobody takes them out of the ring, and warming up has filled part of it
                self.assertEqual(list(packets['dropped']), ['tx_full'])

    def test_a_port_delivers_as_many_packets_as_asked_for(self):
        summary, _ = self.answer(fwd.SMALL + ['--mem', 'hpm:4K', '--packets', '1000'], NULL_PORT)
        self.assertEqual(summary['packets']['in'], 1000)


class Turns(Live):
    def take(self, *more):
        return self.start(fwd.SMALL + ['--mem', 'hpm:4K', '--generate', 'uniform', '--packets',
                                       '41000', '--turns'] + list(more))

    def turn(self, process, word='\n'):
        process.stdin.write(word)
        process.stdin.flush()
        self.assertRegex(process.stdout.readline(), r'^done \d+\.\d\d\n$')  # ns per packet

    def test_each_line_is_one_round_and_the_end_of_input_brings_the_summary(self):
        process = self.take()
        self.assertEqual(process.stdout.readline(), 'ready\n')
        for _ in range(3):
            self.turn(process)
        summary = json.loads(self.ended(process).out)
        self.check(summary)
        self.assertEqual(summary['rounds'], 3)
        self.assertGreater(summary['ns_per_packet'], 0)
        self.assertGreaterEqual(summary['window']['one_packet_windows'], 200)

    def test_no_line_at_all_is_no_round(self):
        process = self.take()
        self.assertEqual(process.stdout.readline(), 'ready\n')
        summary = json.loads(self.ended(process).out)
        self.check(summary)
        self.assertEqual(summary['rounds'], 0)
        self.assertIsNone(summary['ns_per_packet'])

    def test_a_signal_ends_the_turns(self):
        process = self.take()
        self.assertEqual(process.stdout.readline(), 'ready\n')
        self.turn(process)
        process.send_signal(signal.SIGINT)
        # its input stays open: the signal alone must do
        end = time.monotonic() + fwd.TIMEOUT
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        summary = json.loads(self.ended(process).out)
        self.assertEqual(summary['rounds'], 1)
        self.check(summary)


if __name__ == '__main__':
    fwd.main()
