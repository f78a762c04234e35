# SPDX-License-Identifier: BSD-3-Clause
"""Captures in and out: every packet is forwarded or dropped for the reason counted here by hand, what
leaves is what came with one hop taken, and a capture that is damaged, empty or of another kind is
told and never lost count of."""

import os
import struct

import frames
import fwd
from frames import ARP, IPV4, IPV6, QINQ, VLAN, frame, ipv4, tcp, udp

RULE = '@10.1.0.0/16\t10.2.0.0/16\t0 : 65535\t0 : 65535\t0x00/0x00\n'
ROUTES = '10.2.0.0/17 0\n10.2.200.0/30 0\n'
MORE_FRAGMENTS = 0x2000

FORWARDED = [
    frame(ipv4(udp())),
    frame(ipv4(udp(data=b'')) + bytes(18)),  # padding up to Ethernet's least is no damage
    frame(ipv4(udp(dport=65535), dst='10.2.200.2')),
    frame(ipv4(tcp(), frames.TCP)),
    frame(ipv4(tcp(sport=0), frames.TCP, ttl=2)),
    frame(ipv4(udp(), options=b'\x01' * 8)),
    frame(ipv4(udp(), ttl=255), tags=[(VLAN, 5)]),
    frame(ipv4(udp()), tags=[(QINQ, 5), (VLAN, 6)]),
    frame(ipv4(bytes(12), frames.SCTP)),
    frame(ipv4(b'\x08\0\0\0', frames.ICMP)),
    frame(ipv4(udp(), fragment=MORE_FRAGMENTS)),
    frame(ipv4(udp(data=bytes(3000)))),  # longer than one packet buffer
]

DROPPED = {
    'arp': [frame(bytes(28), ARP), frame(bytes(46), ARP, tags=[(VLAN, 1)])],
    'ipv6': [frame(b'\x60' + bytes(39), IPV6)] * 2 + [frame(b'\x60' + bytes(39), IPV6, [(VLAN, 1)])],
    'vlan_depth': [frame(ipv4(udp()), tags=[(QINQ, 1), (VLAN, 2), (VLAN, 3)])],
    'fragment': [frame(ipv4(udp(), fragment=MORE_FRAGMENTS | 185)),
                 frame(ipv4(udp(), fragment=370))],
    'ttl_expired': [frame(ipv4(udp(), ttl=1)), frame(ipv4(udp(), ttl=0))],
    'no_acl_match': [frame(ipv4(udp(), src='11.1.0.1')), frame(ipv4(udp(), dst='10.3.0.1'))],
    'no_route': [frame(ipv4(udp(), dst='10.2.128.1')), frame(ipv4(udp(), dst='10.2.200.4'))],
    'too_short': [frames.MACS, frame(b'')[:13], frame(ipv4(udp())[:19]), b'\x01'],
    'truncated': [(frame(ipv4(udp(data=bytes(500))))[:60], 542), frame(ipv4(udp())[:-1])],
    'bad_ip_header': [frame(b'\x55' + ipv4(udp())[1:]), frame(b'\x44' + ipv4(udp())[1:]),
                      frame(ipv4(udp())[:2] + b'\0\x13' + ipv4(udp())[4:])],
    'bad_l4_header': [frame(ipv4(b'abc')), frame(ipv4(b'', frames.TCP))],
    'other_ethertype': [frame(bytes(50), 0x88cc), frame(bytes(38), 38)],
}


def mixed():
    """Forwarded and dropped ones in turn, so that bursts hold both."""
    bad = [kept for kept_of in DROPPED.values() for kept in kept_of]
    return [kept for i in range(len(bad)) for kept in
            FORWARDED[i:i + 1] + bad[i:i + 1]] + FORWARDED[len(bad):]


class Reader(fwd.Scratch):
    def setUp(self):
        super().setUp()
        self.common = ['--rules', self.file('rules', RULE), '--routes', self.file('routes', ROUTES),
                       '--sessions', '50', '--mem', 'hpm:4K']

    def read(self, path, *more, status=fwd.DONE):
        return self.answer(self.common + ['--pcap-in', path] + list(more), status=status)

    def refused(self, path, *more):
        return self.refusal(self.common + ['--pcap-in', path] + list(more))


class Captures(Reader):
    def counted(self, data, name='in.pcap'):
        packets = self.read(self.file(name, data))[0]['packets']
        self.assertEqual(packets['in'], len(mixed()))
        self.assertEqual(packets['forwarded'], len(FORWARDED))
        self.assertEqual(packets['dropped'], {why: len(kept) for why, kept in DROPPED.items()})

    def test_each_packet_is_forwarded_or_dropped_for_its_reason(self):
        self.counted(frames.capture(mixed()))

    def test_byte_order_resolution_and_format_of_the_file_change_nothing(self):
        swapped = struct.pack('>IHHiIII', frames.MAGIC, 2, 4, 0, 0, 262144, frames.ETHERNET)
        nanoseconds = struct.pack('<I', 0xa1b23c4d) + frames.capture(mixed())[4:]
        next_generation = frames.pcapng(mixed())
        for kept in mixed():
            kept, wire = kept if isinstance(kept, tuple) else (kept, len(kept))
            swapped += struct.pack('>IIII', 1, 2, len(kept), wire) + kept
        for name, data in [('swapped', swapped), ('nanoseconds', nanoseconds),
                           ('next_generation', next_generation)]:
            with self.subTest(name):
                self.counted(data)

    def test_what_leaves_is_what_came_one_hop_on(self):
        out = self.dir / 'out.pcap'
        self.read(self.file('in.pcap', frames.capture(mixed())), '--pcap-out', out)
        sent = frames.read_capture(out.read_bytes())
        self.assertEqual(len(sent), len(FORWARDED))
        for came, left in zip(FORWARDED, sent):
            at = came.index(struct.pack('>H', IPV4), 12) + 2
            header = (came[at] & 15) * 4
            self.assertEqual(left[12:at], came[12:at])  # tags and EtherType
            self.assertEqual(left[at + 8], came[at + 8] - 1)
            self.assertEqual(frames.checksum(left[at:at + header]), 0)
            blank = bytes(3)
            self.assertEqual(left[at:at + 8] + blank[:1] + left[at + 9:at + 10] + blank[:2] +
                             left[at + 12:],
                             came[at:at + 8] + blank[:1] + came[at + 9:at + 10] + blank[:2] +
                             came[at + 12:])

    def test_a_wrong_checksum_is_not_made_right(self):
        good = ipv4(udp())
        wrong = good[:10] + bytes([good[10] ^ 0x5a]) + good[11:]
        out = self.dir / 'out.pcap'
        self.read(self.file('in.pcap', frames.capture([frame(wrong)])), '--pcap-out', out)
        left = frames.read_capture(out.read_bytes())[0]
        self.assertNotEqual(frames.checksum(left[14:34]), 0)

    def test_every_possible_checksum_is_mended_right(self):
        # 0x0000 and 0xffff are where ones' complement arithmetic goes wrong
        came = [frame(ipv4(udp(), ttl=ttl, dst=f'10.2.{i // 256}.{i % 256}', src=f'10.1.{i}.{ttl}'))
                for ttl in (2, 3, 64, 255) for i in range(256)]
        came += [frame(ipv4_with_checksum(sum_)) for sum_ in (0x0000, 0x0001, 0xfeff, 0xff00, 0xfffe)]
        out = self.dir / 'out.pcap'
        self.read(self.file('in.pcap', frames.capture(came)), '--sessions', '2000', '--pcap-out', out)
        sent = frames.read_capture(out.read_bytes())
        self.assertEqual(len(sent), len(came))
        self.assertEqual([i for i, left in enumerate(sent) if frames.checksum(left[14:34])], [])

    def test_a_capture_cut_anywhere_is_forwarded_up_to_there(self):
        whole = frames.capture([frame(ipv4(udp()))] * 10)
        record = (len(whole) - 24) // 10
        for packets, extra in [(5, 1), (5, record - 1), (9, 16), (1, 15)]:
            with self.subTest(packets=packets, extra=extra):
                path = self.file('cut.pcap', whole[:24 + packets * record + extra])
                summary, done = self.read(path, status=fwd.DAMAGED)
                self.assertEqual(summary['packets']['in'], packets)
                self.assertEqual(summary['packets']['forwarded'], packets)
                self.assertEqual(len(done.said), 1)
                self.assertIn(f"'{path}' ends after {packets} packets: ", done.said[0])
                self.assertEqual(f"hpfwd: {summary['remark']}", done.said[0])

    def test_the_answer_for_people_tells_of_the_damage_too(self):
        path = self.file('cut.pcap', frames.capture([frame(ipv4(udp()))] * 4)[:-3])
        done = fwd.run(self.common + ['--pcap-in', path])
        self.assertEqual(done.status, fwd.DAMAGED)
        self.assertIn('packets  3 in = 3 forwarded + 0 dropped\n', done.out)
        self.assertIn('ends after 3 packets', done.out)
        self.assertEqual(len(done.said), 1)

    def test_a_capture_without_packets_is_no_error(self):
        summary, _ = self.read(self.file('none.pcap', frames.capture([])))
        self.assertEqual(summary['packets'], {'in': 0, 'forwarded': 0, 'dropped': {}, 'warm_up': 0})
        self.assertIsNone(summary['ns_per_packet'])

    def test_a_packet_without_bytes_is_counted(self):
        summary, _ = self.read(self.file('blank.pcap', frames.capture([b'', (b'', 60)])))
        self.assertEqual(summary['packets']['in'], 2)
        self.assertEqual(summary['packets']['dropped'], {'too_short': 2})

    def test_what_is_no_capture_is_refused(self):
        whole = frames.capture([frame(ipv4(udp()))])
        for name, data, what in [
                ('empty', b'', 'is empty, not a capture'),
                ('short', whole[:20], 'is not a capture'),
                ('text', b'this is no capture at all, but a text\n', 'is not a capture'),
                ('magic', b'\0' + whole[1:], 'is not a capture'),
                ('version', whole[:4] + b'\x63' + whole[5:], 'is not a capture'),
                ('first', whole[:-1], 'is damaged at its first packet'),
                ('huge', whole[:32] + b'\xff\xff\xff\x7f' + whole[36:], 'is damaged at its first packet')]:
            with self.subTest(name):
                path = self.file(name, data)
                said = self.refused(path)
                self.assertIn(f"'{path}' {what}", said)

    def test_a_pipe_is_refused_and_not_waited_for(self):
        pipe = self.dir / 'pipe'
        os.mkfifo(pipe)
        self.assertIn(f"'{pipe}' is no regular file", self.refused(pipe))

    def test_packets_of_another_link_type_are_all_dropped_for_that(self):
        path = self.file('sll.pcap', frames.capture(FORWARDED, frames.LINUX_SLL))
        summary, _ = self.read(path)
        self.assertEqual(summary['packets']['dropped'], {'link_type': len(FORWARDED)})

    def test_a_link_type_nobody_knows_is_refused(self):
        said = self.refused(self.file('odd.pcap', frames.capture(FORWARDED, 60123)))
        self.assertIn('link type 60123', said)

    def test_no_more_packets_than_asked_for_are_taken(self):
        path = self.file('in.pcap', frames.capture([frame(ipv4(udp()))] * 100))
        for asked, taken in [(1, 1), (33, 33), (100, 100), (101, 100)]:
            summary, _ = self.read(path, '--packets', asked)
            self.assertEqual(summary['packets']['in'], taken)


class Paths(Reader):
    """Names that mean something to DPDK's arguments."""

    def test_a_path_that_dpdk_would_cut_is_refused(self):
        good = self.file('in.pcap', frames.capture(FORWARDED))
        for mark in ',=[':
            with self.subTest(mark):
                path = self.file(f'a{mark}b.pcap', frames.capture(FORWARDED))
                self.assertIn(f"'{mark}' in its name", self.refused(path))
                out = self.dir / f'out{mark}1.pcap'
                self.assertIn(f"'{mark}' in its name", self.refused(good, '--pcap-out', out))
                self.assertFalse(out.exists())

    def test_every_other_path_works(self):
        for name in ['a b.pcap', "it's.pcap", 'ü.pcap', 'a:b.pcap', 'a].pcap', '-.pcap', 'x' * 200]:
            with self.subTest(name):
                summary, _ = self.read(self.file(name, frames.capture(FORWARDED)))
                self.assertEqual(summary['packets']['forwarded'], len(FORWARDED))

    def test_the_input_is_never_overwritten(self):
        data = frames.capture(FORWARDED)
        path = self.file('in.pcap', data)
        twin = self.dir / 'twin.pcap'
        twin.symlink_to(path)
        for out in (path, twin):
            said = self.refusal(self.common + ['--pcap-in', path, '--pcap-out', out],
                                status=fwd.USAGE)
            self.assertIn('--pcap-out', said)
            self.assertEqual(path.read_bytes(), data)

    def test_an_output_that_cannot_be_written_is_named(self):
        path = self.file('in.pcap', frames.capture(FORWARDED))
        for out, why in [(self.dir / 'nowhere' / 'out.pcap', 'No such file or directory'),
                         (self.dir, 'Is a directory')]:
            self.assertIn(f"'{out}': {why}", self.refused(path, '--pcap-out', out))


def ipv4_with_checksum(wanted):
    """A packet whose header has this checksum, reached through its identification."""
    packet = ipv4(udp())
    for number in range(1 << 16):
        head = packet[:4] + struct.pack('>H', number) + packet[6:10] + b'\0\0' + packet[12:20]
        if frames.checksum(head) == wanted:
            return head[:10] + struct.pack('>H', wanted) + head[12:] + packet[20:]
    raise ValueError(f'no header has checksum {wanted:#06x}')


if __name__ == '__main__':
    fwd.main()
