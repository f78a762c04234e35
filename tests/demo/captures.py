# SPDX-License-Identifier: BSD-3-Clause
"""Forwards every capture there is and looks only at what holds for all of them: hpfwd ends by itself
with status 0, 1 or 3, no sanitizer speaks, every packet is accounted for, and the capture it writes
holds the packets it says it forwarded.

    captures.py [DIR...]

Without DIR those in the environment (HPFWD_CAPTURES, parted by colons), without that some captures
made here: a good one truncated and with bits flipped, the same ones every time."""

import os
import random
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import frames
import fwd
from frames import ARP, IPV6, QINQ, VLAN, frame, ipv4, tcp, udp

AT_ONCE = 2
SUFFIXES = {'.pcap', '.pcapng', '.cap'}
EVERYTHING = '@0.0.0.0/0\t0.0.0.0/0\t0 : 65535\t0 : 65535\t0x00/0x00\n'
GOOD = [frame(ipv4(udp())), frame(ipv4(tcp(), frames.TCP), tags=[(VLAN, 3)]),
        frame(ipv4(udp(data=bytes(1400)), fragment=0x2000)), frame(bytes(46), ARP),
        frame(b'\x60' + bytes(60), IPV6), frame(ipv4(udp(), options=bytes(12)), tags=[(QINQ, 1)]),
        frame(ipv4(bytes(12), frames.SCTP)), frame(ipv4(udp(), ttl=1))]


def mutations(seed=1, each=10):
    """(name, bytes) of damaged captures."""
    chance = random.Random(seed)
    for kind, good in [('pcap', frames.capture(GOOD * 3)), ('pcapng', frames.pcapng(GOOD * 3))]:
        for i in range(each):
            yield f'cut-{i}.{kind}', good[:chance.randrange(len(good))]
            flipped = bytearray(good)
            for _ in range(1 << chance.randrange(8)):
                # mostly in the headers of the file and the first records
                flipped[chance.randrange(min(len(good), 1 << chance.randrange(5, 13)))] ^= \
                    1 << chance.randrange(8)
            yield f'flip-{i}.{kind}', bytes(flipped)


def records(data):
    """Packets of a whole capture in the old format; None when it is no such."""
    order = {b'\xa1\xb2\xc3\xd4': '>', b'\xd4\xc3\xb2\xa1': '<', b'\xa1\xb2\x3c\x4d': '>',
             b'\x4d\x3c\xb2\xa1': '<'}.get(data[:4])
    at, n = frames.FILE_HEADER.size, 0
    while order is not None and at + frames.RECORD_HEADER.size <= len(data):
        at += frames.RECORD_HEADER.size + struct.unpack_from(order + 'I', data, at + 8)[0]
        n += 1
    return n if order is not None and at == len(data) else None


def problem_of(done, path, written):
    """What does not hold after a run over a capture, or None."""
    if done.sanitizer():
        return done.sanitizer()
    if done.status == fwd.CANNOT:
        if done.out or len(done.said) != 1 or str(path)[-100:] not in done.said[0]:
            return f'a refusal is one sentence that names the file: {done.err!r}'
        return None
    if done.status not in (fwd.DONE, fwd.DAMAGED):
        return f'status {done.status}: {done.err.strip()[-300:]}'
    packets = done.summary()['packets']
    if fwd.lost(packets) != 0:
        return f'packets are lost: {packets}'
    if done.status == fwd.DONE and records(path.read_bytes()) not in (None, packets['in']):
        return f'{records(path.read_bytes())} packets in the file, {packets["in"]} in'
    if len(frames.read_capture(written.read_bytes())) != packets['forwarded']:
        return f'the capture written does not hold {packets["forwarded"]} packets'
    return None


class Shelf:
    """Runs captures, some at once, and keeps score."""

    def __init__(self, scratch):
        self.scratch = Path(scratch)
        self.statuses, self.packets, self.dropped = Counter(), Counter(), Counter()
        (self.scratch / 'rules').write_text(EVERYTHING)
        (self.scratch / 'routes').write_text('0.0.0.0/0 0\n')

    def run(self, job):
        number, path = job
        # a name that DPDK takes whatever the capture's is
        link = self.scratch / f'in-{number}'
        link.symlink_to(path.resolve())
        written = self.scratch / f'out-{number}'
        try:
            done = fwd.run(['--rules', self.scratch / 'rules', '--routes', self.scratch / 'routes',
                            '--sessions', '500', '--mem', 'hpm:4K', '--window', '10', '--json',
                            '--pcap-in', link, '--pcap-out', written])
            return path, done, problem_of(done, link, written)
        except subprocess.TimeoutExpired as late:
            return path, None, f'does not end within {late.timeout} s'
        except ValueError as error:
            return path, None, f'an answer that cannot be read: {error}'
        finally:
            written.unlink(missing_ok=True)

    def add(self, done):
        self.statuses[done.status] += 1
        if done.status != fwd.CANNOT:
            packets = done.summary()['packets']
            self.packets.update({'in': packets['in'], 'forwarded': packets['forwarded']})
            self.dropped.update(packets['dropped'])

    def run_all(self, paths):
        """How many captures had a problem."""
        bad = 0
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for path, done, problem in pool.map(self.run, enumerate(paths)):
                if problem is not None:
                    bad += 1
                    print(f'{path.name}: {problem}')
                else:
                    self.add(done)
        return bad

    def report(self):
        for status, n in sorted(self.statuses.items()):
            print(f'status {status}: {n} captures')
        print(f'{self.packets["in"]} packets in = {self.packets["forwarded"]} forwarded + '
              f'{sum(self.dropped.values())} dropped')
        for reason, n in self.dropped.most_common():
            print(f'{n:12}  {reason}')


def find(folders):
    paths = []
    for folder in folders:
        found = [path for path in sorted(Path(folder).rglob('*'))
                 if path.suffix in SUFFIXES and path.is_file()]
        if not found:
            sys.exit(f"'{folder}' holds no captures")
        paths += found
    return paths


def made_here(folder):
    paths = []
    for name, data in mutations():
        paths.append(Path(folder) / name)
        paths[-1].write_bytes(data)
    return paths


def main():
    folders = sys.argv[1:] or [part for part in os.environ.get('HPFWD_CAPTURES', '').split(':')
                               if part]
    with tempfile.TemporaryDirectory(prefix='hpfwd-test-') as scratch:
        paths = find(folders) if folders else made_here(scratch)
        shelf = Shelf(scratch)
        bad = shelf.run_all(paths)
        shelf.report()
    print(f'{len(paths)} captures, {bad} with a problem')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
