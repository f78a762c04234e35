# SPDX-License-Identifier: BSD-3-Clause
"""Tables on hugepages of one size (the argument: 2M or 1G), EAL on base pages and on hugepages; every
page taken is there again afterwards. Exit status 77 when this machine has too few free."""

import sys

import fwd

SIZES = {'2M': (1 << 21, 256), '1G': (1 << 30, 1)}  # bytes, pages the runs here may take
EAL_ON_HUGEPAGES = ['--in-memory', '--no-pci', '--no-telemetry', '-m', '64']
EAL_WITH_TABLES = EAL_ON_HUGEPAGES[:-1] + ['256']
HEAPS = ['acl', 'hash', 'lpm']  # DPDK's own; it keeps small change of each in EAL's memory
PACKED = ['session', 'meter', 'stats', 'counters', 'hpm-meta']

NAME = sys.argv.pop(1) if len(sys.argv) > 1 else '2M'
PAGE, NEEDED = SIZES[NAME]


def few(free):
    """The sentence that says what is missing, or None."""
    for name in sorted({NAME, '2M'}):  # EAL takes those of 2M
        page, needed = SIZES[name]
        if free.get(page, 0) < needed:
            return f'{free.get(page, 0)} pages of {name} are free, these tests take up to {needed}'
    return None


class Hugepages(fwd.Scratch):
    def setUp(self):
        super().setUp()
        before = fwd.free_pages()
        if few(before):  # others take pages meanwhile
            self.skipTest(few(before))
        self.addCleanup(lambda: self.assertEqual(fwd.pages_missing(before), {}))

    def tables(self, eal=None, place=f'hpm:{NAME}'):
        summary, _ = self.answer(fwd.SMALL + ['--mem', place, '--generate', 'uniform',
                                              '--packets', '3000'], eal)
        self.assertEqual(summary['packets']['in'], 3000)
        self.assertGreaterEqual(summary['window']['one_packet_windows'], 200)
        return summary, {table['tag']: table for table in summary['tables']}

    def check_arena(self, tables):
        key = str(PAGE)
        for tag in HEAPS:
            pages = tables[tag]['pages']
            self.assertLessEqual(sum(pages.values()) - pages[key], 4, tables[tag])
            self.assertGreaterEqual(pages[key] * PAGE + (1 << 12), tables[tag]['bytes'])
        for tag in PACKED:
            # small ones, each within one page: the least a packet can touch
            self.assertEqual(tables[tag]['pages'], {key: 1}, tag)
        for tag in PACKED[:-1]:
            self.assertEqual(tables[tag]['touched'], {key: 1}, tag)
            self.assertEqual(tables[tag]['touched_per_packet'], 1, tag)
        self.assertEqual([tag for tag in HEAPS + PACKED if tables[tag]['why'] is not None], [])

    def test_every_table_lies_on_these_pages_and_eal_on_base_pages(self):
        _, tables = self.tables()
        self.check_arena(tables)
        for tag in ('mbuf', 'rings', 'eal'):
            self.assertEqual(list(tables[tag]['pages']), ['4096'], tables[tag])

    def test_tables_that_share_pages_are_counted_once_in_the_total(self):
        summary, tables = self.tables()
        key = str(PAGE)
        touched = [tables[tag]['touched'][key] for tag in HEAPS + PACKED]
        total = summary['total']['touched'][key]
        self.assertGreaterEqual(total, max(touched))
        self.assertLess(total, sum(touched))
        if NAME == '1G':
            self.assertEqual(total, 1)

    def test_eal_on_hugepages_is_counted_too(self):
        if NAME == '1G' and fwd.free_pages().get(PAGE, 0) < 2:
            self.skipTest('EAL takes the only free page of 1 GiB for its packets')
        _, tables = self.tables(EAL_ON_HUGEPAGES)
        self.check_arena(tables)
        for tag in ('mbuf', 'rings', 'eal'):
            self.assertNotIn('4096', tables[tag]['pages'])
            self.assertIsNone(tables[tag]['why'], tables[tag])

    def test_stock_dpdk_tables_lie_on_eals_hugepages(self):
        _, tables = self.tables(EAL_WITH_TABLES, 'dpdk')
        for tag, table in tables.items():
            self.assertNotIn('4096', table['pages'], tag)
            self.assertIsNone(table['why'], tag)


if __name__ == '__main__':
    TOO_FEW = few(fwd.free_pages())
    if TOO_FEW:
        fwd.skip(TOO_FEW)
    fwd.main()
