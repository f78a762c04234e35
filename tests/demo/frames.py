# SPDX-License-Identifier: BSD-3-Clause
"""Frames and captures, byte by byte, so that tests know what is in them without asking hpfwd."""

import struct

ETHERNET = 1  # link types
LINUX_SLL = 113
IPV4, ARP, IPV6, VLAN, QINQ = 0x0800, 0x0806, 0x86dd, 0x8100, 0x88a8  # EtherTypes
TCP, UDP, SCTP, ICMP = 6, 17, 132, 1
MACS = bytes.fromhex('020000000099' '020000000088')
MAGIC = 0xa1b2c3d4
FILE_HEADER = struct.Struct('<IHHiIII')
RECORD_HEADER = struct.Struct('<IIII')


def checksum(header):
    """RFC 1071, of a header whose length is even."""
    total = sum(struct.unpack(f'>{len(header) // 2}H', header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def address(text):
    return bytes(int(octet) for octet in text.split('.'))


def ipv4(payload=b'', proto=UDP, ttl=64, src='10.1.0.1', dst='10.2.0.1', fragment=0, options=b''):
    """A packet; `fragment` is the field with flags and offset."""
    words = 5 + len(options) // 4
    head = struct.pack('>BBHHHBBH4s4s', 0x40 | words, 0, words * 4 + len(payload), 1, fragment, ttl,
                       proto, 0, address(src), address(dst)) + options
    return head[:10] + struct.pack('>H', checksum(head)) + head[12:] + payload


def udp(sport=1000, dport=2000, data=b'12345678'):
    return struct.pack('>HHHH', sport, dport, 8 + len(data), 0) + data


def tcp(sport=1000, dport=80):
    return struct.pack('>HHIIBBHHH', sport, dport, 1, 0, 0x50, 0x02, 8192, 0, 0)


def frame(payload, ethertype=IPV4, tags=()):
    """`tags` are (EtherType, VLAN id), the outer one first."""
    head = MACS
    for tag, vlan in tags:
        head += struct.pack('>HH', tag, vlan)
    return head + struct.pack('>H', ethertype) + payload


def capture(frames, link_type=ETHERNET):
    """A capture file; a frame is bytes, or (bytes kept, length on the wire)."""
    out = FILE_HEADER.pack(MAGIC, 2, 4, 0, 0, 262144, link_type)
    for second, kept in enumerate(frames):
        kept, wire = kept if isinstance(kept, tuple) else (kept, len(kept))
        out += RECORD_HEADER.pack(second, 0, len(kept), wire) + kept
    return out


def block(kind, body):
    """Of a pcapng file."""
    body += bytes(-len(body) % 4)
    size = struct.pack('<I', 12 + len(body))
    return struct.pack('<I', kind) + size + body + size


def pcapng(frames, link_type=ETHERNET):
    """As capture(), in the format with blocks."""
    out = block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1))
    out += block(1, struct.pack('<HHI', link_type, 0, 262144))
    for kept in frames:
        kept, wire = kept if isinstance(kept, tuple) else (kept, len(kept))
        out += block(6, struct.pack('<IIIII', 0, 0, 0, len(kept), wire) + kept)
    return out


def read_capture(data):
    """The frames of a capture of this machine's byte order, microseconds or nanoseconds."""
    magic = struct.unpack_from('<I', data)[0]
    if magic not in (MAGIC, 0xa1b23c4d):
        raise ValueError(f'no capture: {magic:#x}')
    at, frames = FILE_HEADER.size, []
    while at < len(data):
        kept = RECORD_HEADER.unpack_from(data, at)[2]
        at += RECORD_HEADER.size
        frames.append(data[at:at + kept])
        if len(frames[-1]) != kept:
            raise ValueError('the capture ends inside a frame')
        at += kept
    return frames
