# SPDX-License-Identifier: BSD-3-Clause
"""More sessions than all hugepages of this machine could hold, and page sizes it has none of: a
sentence that says what would mend it, status 3, and the pools as full as before."""

import frames
import fwd

SESSION_BYTES = 128 + 64 + 64  # of a session's three objects, without its place in the hash
SESSIONS_MAX = 1 << 26
SIZES = {'hpm:2M': 1 << 21, 'hpm:1G': 1 << 30}


class Exhausted(fwd.Scratch):
    def setUp(self):
        super().setUp()
        before = fwd.free_pages()
        self.addCleanup(lambda: self.assertEqual(fwd.pages_missing(before), {}))

    def too_many(self, page):
        """More sessions than fit even if everybody else gave all pages back."""
        pool = fwd.hugepages().get(page, {'nr': 0, 'nr_overcommit': 0})
        sessions = 1000 + (pool['nr'] + pool['nr_overcommit']) * page // SESSION_BYTES
        if sessions > SESSIONS_MAX:
            self.skipTest(f'{sessions} sessions are more than hpfwd takes')
        return sessions

    def refused(self, place, sessions):
        capture = self.file('in.pcap', frames.capture([]))  # making as many flows would take long
        return self.refusal(['--rules', 'gen:acl:20', '--sessions', sessions, '--mem', place,
                             '--pcap-in', capture])

    def test_pages_that_run_out_are_told_with_the_line_that_brings_more(self):
        for place, page in SIZES.items():
            with self.subTest(place):
                if page not in fwd.hugepages():
                    self.skipTest(f'this kernel has no pages for {place}')
                said = self.refused(place, self.too_many(page))
                self.assertIn('nr_hugepages', said)
                self.assertIn(f'hugepages-{page >> 10}kB', said)

    def test_a_page_size_that_the_kernel_does_not_offer_is_told(self):
        for place, page in SIZES.items():
            if page not in fwd.hugepages():
                with self.subTest(place):
                    self.refused(place, 1000)

    def test_tables_too_large_for_eal_are_told(self):
        said = self.refusal(fwd.SMALL + ['--mem', 'dpdk', '--generate', 'uniform'],
                            fwd.BASE_PAGES[:-1] + ['64'])
        self.assertTrue('memory' in said, said)


if __name__ == '__main__':
    fwd.main()
