# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The byte streams of TCP connections, from what tcpdump captured.

Every byte has a time: when the segment with it passed the interface for the
first time, in Unix nanoseconds. Whatever prevents an exact account raises a
CaptureError.
"""

import bisect
import dataclasses
import struct

# A pcap file with time stamps in nanoseconds, written on this machine; and the
# type of its links.
_MAGIC = 0xA1B23C4D
_ETHERNET = 1

_IPV4 = 0x0800
_FIN, _SYN, _RST, _ACK = 0x01, 0x02, 0x04, 0x10


class CaptureError(Exception):
    """The capture is not complete, or not what was expected."""


@dataclasses.dataclass
class Segment:
    """A TCP segment and when it was captured."""

    time_ns: int
    source: tuple  # address and port
    target: tuple
    sequence: int
    flags: int
    data: bytes
    dscp: int
    ecn: int  # the two bits beside the DSCP


class Stream:
    """What one side of a connection sent."""

    def __init__(self, pieces):
        """pieces: (offset in the stream, time, bytes), in any order."""
        data = bytearray()
        self._ends = []
        self._times = []
        for offset, time_ns, piece in sorted(pieces):
            if offset > len(data):
                raise CaptureError(
                    f"bytes {len(data)} to {offset} of a stream are missing"
                )
            news = piece[len(data) - offset :]
            if news:  # Otherwise it was sent again.
                data += news
                self._ends.append(len(data))
                self._times.append(time_ns)
        self.data = bytes(data)

    def time_ns(self, offset):
        """Returns when the byte passed."""
        return self._times[bisect.bisect_right(self._ends, offset)]


@dataclasses.dataclass
class Connection:
    to_server: Stream
    to_client: Stream


def read_records(path):
    """Returns the records of a capture: their times and their bytes."""
    with open(path, "rb") as file:
        content = file.read()
    magic, link_type = struct.unpack_from("=I16xI", content)
    if magic != _MAGIC or link_type != _ETHERNET:
        raise CaptureError(f"{path} is not a capture of the expected kind")
    records = []
    at = 24
    while at < len(content):
        seconds, nanoseconds, kept, length = struct.unpack_from(
            "=IIII", content, at
        )
        at += 16
        if kept != length or at + kept > len(content):
            raise CaptureError("a packet was not captured completely")
        time_ns = seconds * 1_000_000_000 + nanoseconds
        records.append((time_ns, content[at : at + kept]))
        at += kept
    return records


def parse(time_ns, frame):
    """Returns the Segment in an Ethernet frame."""
    (ether_type,) = struct.unpack_from("!H", frame, 12)
    packet = frame[14:]
    if ether_type != _IPV4 or packet[9] != 6:
        raise CaptureError("a packet is not TCP over IPv4")
    (packet_bytes,) = struct.unpack_from("!H", packet, 2)
    tcp = packet[(packet[0] & 15) * 4 : packet_bytes]
    ports = struct.unpack_from("!HH", tcp)
    (sequence,) = struct.unpack_from("!I", tcp, 4)
    return Segment(
        time_ns,
        source=(packet[12:16], ports[0]),
        target=(packet[16:20], ports[1]),
        sequence=sequence,
        flags=tcp[13],
        data=tcp[(tcp[12] >> 4) * 4 :],
        dscp=packet[1] >> 2,
        ecn=packet[1] & 3,
    )


def count_open(records):
    """Returns how many connections have begun and not ended."""
    is_open = {}
    for segment in (parse(*record) for record in records):
        ends = frozenset((segment.source, segment.target))
        if segment.flags & _SYN:
            is_open[ends] = True
        if segment.flags & (_FIN | _RST):
            is_open[ends] = False
    return sum(is_open.values())


def connections(records):
    """Returns the connections, in the order in which they began."""
    segments = [parse(*record) for record in records]
    first = {}  # the sequence number of the first byte, by direction
    clients = []
    for segment in segments:
        if segment.flags & _SYN:
            direction = (segment.source, segment.target)
            if not segment.flags & _ACK and direction not in first:
                clients.append(direction)
            first[direction] = segment.sequence + 1
    pieces = {direction: [] for direction in first}
    for segment in segments:
        direction = (segment.source, segment.target)
        if direction not in first:
            raise CaptureError("the beginning of a connection is missing")
        if segment.data:
            offset = (segment.sequence - first[direction]) & 0xFFFFFFFF
            pieces[direction].append((offset, segment.time_ns, segment.data))
    return [
        Connection(
            Stream(pieces[client, server]), Stream(pieces[server, client])
        )
        for client, server in clients
    ]
