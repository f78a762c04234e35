#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the forwarder before growth, after it, and after it packed, side by side: each instance is
built once, then they take turns, so that what else the machine does hits all alike. Prints one
table and one sentence. Called by scripts/demo.sh."""

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import textwrap

ROUNDS = 151
PACKETS = 1600000  # of an instance; a round of some 20 ms is long enough to fill the caches again
GROWN = {'rules': 64000, 'sessions': 1000000}
BEFORE = {'rules': 8000, 'sessions': 200000}
FLOWS = 'active:4000'  # spread over the whole table
WINDOW_MS = 300       # long enough for all of them to have come, even on base pages
TAGS = ['acl', 'hash', 'session', 'meter', 'stats', 'lpm', 'counters', 'hpm-meta', 'mbuf', 'rings',
        'eal', 'total']
UNITS = ['', 'K', 'M', 'G']


class Instance:
    """One forwarder that waits for its turns."""

    def __init__(self, title, command, size, memory):
        self.title = title
        self.process = subprocess.Popen(
            command + ['--file-prefix', title.replace(' ', '-').replace(',', ''), '--',
                       '--rules', f'gen:acl:{size["rules"]}', '--sessions', str(size['sessions']),
                       '--mem', memory, '--generate', FLOWS, '--packets', str(PACKETS),
                       '--window', str(WINDOW_MS), '--turns', '--json'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ns = []  # per packet, by turn
        self.summary = None

    def expect(self, word):
        """What follows the word that the next line must start with."""
        line = self.process.stdout.readline().strip()
        if line.split(' ')[0] != word:
            _, errors = self.process.communicate()
            sys.exit(f'demo: {self.title}: {errors.strip() or "hpfwd ended early"}')
        return line[len(word):]

    def turn(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        self.ns.append(float(self.expect('done')))

    def finish(self):
        output, errors = self.process.communicate()
        if self.process.returncode != 0:
            sys.exit(f'demo: {self.title}: {errors.strip()}')
        self.summary = json.loads(output)

    def table(self, tag):
        return next((t for t in self.summary['tables'] if t['tag'] == tag), None)


def page_text(size):
    """'4K', '2M': as people write page sizes."""
    unit = 0
    while size >= 1024 and unit + 1 < len(UNITS):
        size //= 1024
        unit += 1
    return f'{size}{UNITS[unit]}'


def pages_text(row, key):
    """'28425 x 4K + 3 x 2M', the largest count first; '-' for what is unknown or not there."""
    if row is None:
        return '-'
    known = [(n, int(size)) for size, n in row[key].items() if n is not None]
    parts = [f'{n} x {page_text(size)}' for n, size in sorted(known, reverse=True) if n]
    return ' + '.join(parts) if parts else '0' if known else '-'


def reach_text(summary):
    """How often the touched pages of the most frequent size exceed what the TLB reaches."""
    touched = {int(size): n for size, n in summary['total']['touched'].items() if n is not None}
    if not touched:
        return '-'
    size = max(touched, key=touched.get)
    reach = next((t['reach_bytes'] for t in summary['tlb'] if t['page_bytes'] == size), None)
    if reach is None:
        return f'unknown for {page_text(size)}'
    return f'{touched[size] * size / reach:.2f} of {reach // 2**20} MiB'


def per_packet_text(row):
    if row is None or row['touched_per_packet'] is None:
        return '-'
    return f'{row["touched_per_packet"]:.2f}'


def ratios(one, other):
    """How much longer one took than the other, turn by turn, ascending."""
    return sorted(a / b for a, b in zip(one.ns, other.ns))


def ratio_text(one, other):
    r = ratios(one, other)
    return '1' if one is other else (f'{statistics.median(r):.2f} '
                                     f'({r[len(r) // 10]:.2f} .. {r[-1 - len(r) // 10]:.2f})')


def print_row(name, cells):
    print(f'{name:<14}' + ''.join(f'{cell:>22}' for cell in cells))


def print_table(instances):
    print_row('', [i.title for i in instances])
    print_row('tables on', [i.summary['mem'] for i in instances])
    print_row('rules', [str(i.summary['rules']) for i in instances])
    print_row('sessions', [str(i.summary['sessions']) for i in instances])
    print_row('ns/packet', [f'{i.summary["ns_per_packet"]:.0f}' for i in instances])
    print_row('  p10 .. p90', [f'{i.summary["ns_p10"]:.0f} .. {i.summary["ns_p90"]:.0f}'
                               for i in instances])
    print_row('  to before', [ratio_text(i, instances[0]) for i in instances])
    print_row('pages touched', [f'in {i.summary["window"]["ms"]:.0f} ms' for i in instances])
    for tag in TAGS:
        rows = [i.table(tag) if tag != 'total' else i.summary['total'] for i in instances]
        if any(rows):
            print_row('  ' + tag, [pages_text(row, 'touched') for row in rows])
    totals = [i.summary['total'] for i in instances]
    print_row('  per packet', [per_packet_text(row) for row in totals])
    print_row('  of TLB reach', [reach_text(i.summary) for i in instances])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--packed', required=True)
    parser.add_argument('--json')
    parser.add_argument('--note', action='append', default=[])
    parser.add_argument('command', nargs='+')
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    wanted = [('before growth', BEFORE, 'naive'), ('after growth', GROWN, 'naive'),
              ('after, packed', GROWN, args.packed)]
    instances = []
    try:
        for title, size, memory in wanted:  # one after another: building takes gigabytes
            print(f'building: {title}, {size["rules"]} rules, {size["sessions"]} sessions, '
                  f'{memory}', file=sys.stderr)
            instances.append(Instance(title, args.command, size, memory))
            instances[-1].expect('ready')
        order = random.Random(1)
        for _ in range(ROUNDS):
            for instance in order.sample(instances, len(instances)):
                instance.turn()
        for instance in instances:
            instance.finish()
    finally:
        for instance in instances:
            instance.process.kill()
            instance.process.wait()
    print_table(instances)
    print('\n' + conclusion(*instances))
    if in_a_guest():
        args.note.append('a virtual machine: its hypervisor may back hugepages by small pages, so '
                         'the times say less than on bare metal; the page counts hold')
    for note in args.note:
        print(textwrap.fill(f'note: {note}', 80))
    if args.json:
        try:
            with open(args.json, 'w', encoding='utf-8') as file:
                json.dump([i.summary for i in instances], file, indent=1)
        except OSError as error:
            sys.exit(f'demo: {args.json}: {error.strerror}')
    return 0


def page_sum(summary):
    return sum(n for n in summary['total']['touched'].values() if n is not None)


def conclusion(before, after, packed):
    loss = 1 - statistics.median(ratios(before, after))
    gain = statistics.median(ratios(after, packed))
    return textwrap.fill(
        f'Growth cost the forwarder {100 * loss:.0f} % of its packet rate; with its tables packed '
        f'({packed.summary["mem"]}) it is {gain:.2f} times as fast as without (medians of '
        f'{ROUNDS} interleaved rounds), and touches {page_sum(packed.summary)} pages in '
        f'{WINDOW_MS} ms instead of {page_sum(after.summary)}.', 80)


def in_a_guest():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            return any(line.startswith('flags') and ' hypervisor' in line for line in file)
    except OSError:
        return False


if __name__ == '__main__':
    sys.exit(main())
