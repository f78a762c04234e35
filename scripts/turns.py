#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the forwarder before growth, after it, and after it packed, side by side: each instance is
built once, then they take turns, so that what else the machine does hits all alike. Prints one
table and one sentence. Called by scripts/demo.sh."""

import argparse
import json
import random
import signal
import subprocess
import sys

ROUNDS = 41
GROWN = {'rules': 64000, 'sessions': 1000000}
BEFORE = {'rules': 8000, 'sessions': 200000}
FLOWS = 'active:4000'  # spread over the whole table
TAGS = ['acl', 'hash', 'session', 'meter', 'stats', 'lpm', 'counters', 'hpm-meta', 'mbuf', 'rings',
        'eal', 'total']
UNITS = ['B', 'KiB', 'MiB', 'GiB']


class Instance:
    """One forwarder that waits for its turns."""

    def __init__(self, title, command, size, memory):
        self.title = title
        self.process = subprocess.Popen(
            command + ['--file-prefix', f'hpfwd-{len(title)}-{memory.replace(":", "-")}', '--',
                       '--rules', f'gen:acl:{size["rules"]}', '--sessions', str(size['sessions']),
                       '--mem', memory, '--generate', FLOWS, '--packets', '4000000',
                       '--turns', '--json'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.summary = None

    def expect(self, word):
        line = self.process.stdout.readline().strip()
        if line != word:
            _, errors = self.process.communicate()
            sys.exit(f'demo: {self.title}: {errors.strip() or "hpfwd ended early"}')

    def turn(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        self.expect('done')

    def finish(self):
        output, errors = self.process.communicate()
        if self.process.returncode != 0:
            sys.exit(f'demo: {self.title}: {errors.strip()}')
        self.summary = json.loads(output)

    def table(self, tag):
        return next((t for t in self.summary['tables'] if t['tag'] == tag), None)


def size_text(size):
    unit = 0
    while size >= 1024 and unit + 1 < len(UNITS):
        size /= 1024
        unit += 1
    return f'{size:.0f} {UNITS[unit]}'


def pages_text(row, key):
    """'135 x 2 MiB', the largest count first; '-' for what is unknown or not there."""
    if row is None or not row[key]:
        return '-'
    known = [(n, int(size)) for size, n in row[key].items() if n is not None]
    if not known:
        return '-'
    return ' + '.join(f'{n} x {size_text(size)}' for n, size in sorted(known, reverse=True)[:2] if n)


def per_packet_text(row):
    if row is None or row['touched_per_packet'] is None:
        return '-'
    return f'{row["touched_per_packet"]:.2f}'


def print_row(name, cells):
    print(f'{name:<16}' + ''.join(f'{cell:>21}' for cell in cells))


def print_table(instances):
    base = instances[0].summary['ns_per_packet']
    print_row('', [i.title for i in instances])
    print_row('tables on', [i.summary['mem'] for i in instances])
    print_row('rules', [str(i.summary['rules']) for i in instances])
    print_row('sessions', [str(i.summary['sessions']) for i in instances])
    print_row('ns/packet', [f'{i.summary["ns_per_packet"]:.0f}' for i in instances])
    print_row('  p10 .. p90', [f'{i.summary["ns_p10"]:.0f} .. {i.summary["ns_p90"]:.0f}'
                               for i in instances])
    print_row('  to before', [f'{i.summary["ns_per_packet"] / base:.2f}' for i in instances])
    print_row('pages touched', [f'in {i.summary["window"]["ms"]:.0f} ms' for i in instances])
    for tag in TAGS:
        rows = [i.table(tag) if tag != 'total' else i.summary['total'] for i in instances]
        if any(rows):
            print_row('  ' + tag, [pages_text(row, 'touched') for row in rows])
    totals = [i.summary['total'] for i in instances]
    print_row('  per packet', [per_packet_text(row) for row in totals])


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
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as file:
            json.dump([i.summary for i in instances], file, indent=1)
    print_table(instances)
    print(conclusion(*[i.summary for i in instances]))
    for note in args.note:
        print(f'note: {note}')
    return 0


def page_sum(summary):
    return sum(n for n in summary['total']['touched'].values() if n is not None)


def conclusion(before, after, packed):
    loss = 1 - before['ns_per_packet'] / after['ns_per_packet']
    gain = after['ns_per_packet'] / packed['ns_per_packet']
    return ('\nGrowth cost the forwarder '
            f'{100 * loss:.0f} % of its packet rate; with its tables packed ({packed["mem"]}) it is '
            f'{gain:.2f} times as fast as without\n(medians of {ROUNDS} interleaved rounds), and '
            f'touches {page_sum(packed)} pages in a window instead of {page_sum(after)}.')


if __name__ == '__main__':
    sys.exit(main())
