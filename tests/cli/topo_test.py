# SPDX-License-Identifier: BSD-3-Clause
"""hpmem topo and cpuid on hosts kept in tests/fixtures/hosts: golden files, text against JSON, and
JSON against the files themselves, read here by other means."""

import re
import tempfile
import unittest
from pathlib import Path

from command import COLUMNS, GOLDEN, HOSTS, UPDATE, ask, main, run

NAMES = ('amd-milan-guest', 'made-two-nodes')
UNITS = {'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30, 'TiB': 2**40}
VERSION = re.compile(r'("version": )"[^"]*"')


def table(text, title):
    """The words of each line below the title line, up to an empty line."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(title, line))
    rows = []
    for line in lines[start + 1:]:
        if not line:
            break
        rows.append(re.sub(r'(?<=\d) (?=[KMGT]?i?B\b)', '_', line).split())
    return rows


def number(word):
    return None if word == '-' else int(word)


class Topo(unittest.TestCase):
    def same_size(self, word, value):
        """A size as text says what the bytes in JSON say, to the digit that is printed."""
        if value is None:
            self.assertEqual(word, '-')
            return
        count, unit = word.split('_')
        slack = UNITS[unit] / 20 if '.' in count else 0
        self.assertLessEqual(abs(float(count) * UNITS[unit] - value), slack)

    def test_output_is_that_of_the_golden_files(self):
        for name in NAMES:
            for verb, ending, words in (('topo', 'txt', []), ('topo', 'json', ['--json']),
                                        ('cpuid', 'json', ['--json'])):
                golden = GOLDEN / f'{name}.{verb}.{ending}'
                status, out, err = run(verb, '--root', HOSTS / name, *words)
                out = VERSION.sub(r'\1"VERSION"', out)
                if UPDATE:
                    golden.write_text(out)
                with self.subTest(golden=golden.name):
                    self.assertEqual((status, err), (0, ''))
                    self.assertEqual(out, golden.read_text())

    def test_cpuid_gives_back_the_captured_rows(self):
        for name in NAMES:
            status, out, _ = run('cpuid', '--root', HOSTS / name)
            self.assertEqual((status, out), (0, (HOSTS / name / 'hpm/cpuid.txt').read_text()))
            rows = [[int(word, 16) for word in line.split()] for line in out.splitlines()]
            self.assertEqual([list(row.values()) for row in
                              ask('cpuid', '--root', HOSTS / name)['cpuid']], rows)

    def test_text_and_json_say_the_same(self):
        for name in NAMES:
            text = run('topo', '--root', HOSTS / name)[1]
            host = ask('topo', '--root', HOSTS / name)['host']
            pools = [dict(pool, node='all') for pool in host['pools']]
            pools += [dict(pool, node=str(node['node']))
                      for node in host['nodes'] for pool in node['pools']]
            rows = table(text, ' NODE +PAGE')
            self.assertEqual(len(rows), len(pools))
            for row, pool in zip(rows, pools):
                self.assertEqual(row[0], pool['node'])
                self.same_size(row[1], pool['page_bytes'])
                self.assertEqual([number(word) for word in row[2:]],
                                 [pool[f'{key}_pages'] for key in
                                  ('total', 'free', 'promised', 'surplus')])
            self.same_tlb(text, host['tlb'])
            self.same_nodes(text, host['nodes'])
            kernel = host['kernel']
            self.assertIn(f'kernel    {kernel["release"]}\n', text)
            for row in table(text, ' +KERNEL +HAS'):
                self.assertEqual({'yes': True, 'no': False, '-': None}[row[1]], kernel[row[0]])

    def same_tlb(self, text, tlbs):
        rows = table(text, ' dTLB')
        self.assertEqual(len(rows), len(tlbs))
        for row, tlb in zip(rows, tlbs):
            self.assertEqual(row[0], f'L{tlb["level"]}')
            self.same_size(row[1], tlb['page_bytes'])
            self.assertEqual(number(row[2]), tlb['entries'])
            self.assertEqual(number(row[3]), tlb['ways'])
            self.assertEqual({'yes': True, 'no': False, '-': None}[row[4]], tlb['shared'])
            self.same_size(row[5], tlb['reach_bytes'])

    def same_nodes(self, text, nodes):
        rows = [row for row in table(text, ' NODE +CPUS') if len(row) > 1]
        self.assertEqual(len(rows), len(nodes))
        for row, node in zip(rows, nodes):
            self.assertEqual([int(row[0]), int(row[1])], [node['node'], len(node['cpus'])])
            self.same_size(row[2], node['total_bytes'])
            self.same_size(row[3], node['free_bytes'])
        if len(nodes) > 1:
            self.assertEqual([[number(word) for word in row] for row in table(text, 'DISTANCE')],
                             [[node['node'], *node['distances']] for node in nodes])

    def test_json_says_what_the_files_say(self):
        for name in NAMES:
            root, host = HOSTS / name, ask('topo', '--root', HOSTS / name)['host']
            for node in host['nodes']:
                home = root / f'sys/devices/system/node/node{node["node"]}'
                cpus = []
                for part in (home / 'cpulist').read_text().strip().split(','):
                    first, _, last = part.partition('-')
                    cpus += range(int(first), int(last or first) + 1)
                self.assertEqual(node['cpus'], cpus)
                self.assertEqual(node['distances'],
                                 [int(word) for word in (home / 'distance').read_text().split()])
                total = re.search(r'MemTotal: +(\d+) kB', (home / 'meminfo').read_text())
                self.assertEqual(node['total_bytes'], int(total[1]) * 1024)
                self.same_pools(home / 'hugepages', node['pools'])
            self.same_pools(root / 'sys/kernel/mm/hugepages', host['pools'])

    def same_pools(self, home, pools):
        self.assertEqual({f'hugepages-{pool["page_bytes"] // 1024}kB' for pool in pools},
                         {path.name for path in home.iterdir()})
        for pool in pools:
            files = home / f'hugepages-{pool["page_bytes"] // 1024}kB'
            for key, file in (('total', 'nr'), ('free', 'free'), ('promised', 'resv'),
                              ('surplus', 'surplus')):
                path = files / f'{file}_hugepages'
                text = path.read_text().strip() if path.exists() else ''
                self.assertEqual(pool[f'{key}_pages'], int(text) if text.isdigit() else None)

    def test_each_null_has_a_why_and_each_number_of_the_kernel_a_source(self):
        def walk(value, where):
            if isinstance(value, dict):
                if None in value.values():
                    self.assertGreater(len(value.get('why', '')), 5, where)
                else:
                    self.assertNotIn('why', value, where)
                for key, inner in value.items():
                    walk(inner, f'{where}.{key}')
            elif isinstance(value, list):
                for inner in value:
                    walk(inner, where)

        with tempfile.TemporaryDirectory() as bare:
            (Path(bare) / 'proc').mkdir()
            for root in (*(HOSTS / name for name in NAMES), bare, '/'):
                host = ask('topo', '--root', root)['host']
                walk(host, str(root))
                for pool in host['pools'] + host['tlb']:
                    self.assertTrue(pool.get('source') or pool.get('why'))

    def test_every_line_is_under_80_columns(self):
        with tempfile.TemporaryDirectory() as wide:
            for node in range(20):
                home = Path(wide) / f'sys/devices/system/node/node{node}'
                home.mkdir(parents=True)
                (home / 'cpulist').write_text(','.join(str(i) for i in range(0, 1024, 2)) + '\n')
                (home / 'distance').write_text(' '.join(['255'] * 20) + '\n')
            for root in (*(HOSTS / name for name in NAMES), wide, '/'):
                status, out, _ = run('topo', '--root', root)
                self.assertEqual(status, 0)
                self.assertLess(max(len(line) for line in out.splitlines()), COLUMNS)
            rows = table(run('topo', '--root', wide)[1], 'DISTANCE')
            self.assertEqual(len(rows), 20)

    def test_names_from_files_cannot_drive_the_terminal(self):
        with tempfile.TemporaryDirectory() as host:
            proc = Path(host) / 'proc'
            (proc / 'sys/kernel').mkdir(parents=True)
            (proc / 'sys/kernel/osrelease').write_bytes(b'6.1\x1b[2J\x07')
            (proc / 'mounts').write_bytes(b'none /a\\033]0;x\\007b\xff" hugetlbfs rw 0 0\n')
            for words in ([], ['--json']):
                out = run('topo', '--root', host, *words)[1]
                self.assertIsNone(re.search(r'[\x00-\x09\x0b-\x1f\x7f]', out))
            release = ask('topo', '--root', host)['host']['kernel']['release']
            self.assertEqual(release, '6.1\x1b[2J\x07')


main()
