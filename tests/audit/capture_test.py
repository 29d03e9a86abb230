# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests the audit itself, on captures that are made here: would it notice?"""

import dataclasses
import os
import random
import struct
import tempfile
import unittest

from tests import testing_main
from tests.audit import capture
from tests.audit import comparison
from tests.audit import framing

CLIENT = (bytes([10, 77, 0, 1]), 40000)
SERVER = (bytes([10, 77, 0, 2]), 50000)

CALLS = 40
INTERVAL_NS = 1_000_000
WIRE_NS = 30_000
REQUEST_BYTES, RESPONSE_BYTES = 100, 300

# Close to the end of the sequence numbers, which start over within the test.
FIRST_SEQUENCE = 2**32 - 2000

SYN, ACK, FIN = 2, 16, 1


class Conversation:
    """Makes the records of a connection."""

    def __init__(self):
        self.records = []
        self._next = {CLIENT: FIRST_SEQUENCE, SERVER: FIRST_SEQUENCE + 77}
        self.send(0, CLIENT, flags=SYN)
        self.send(1, SERVER, flags=SYN | ACK)

    def send(self, time_ns, source, data=b"", flags=ACK):
        """Adds a segment."""
        target = SERVER if source == CLIENT else CLIENT
        tcp = struct.pack(
            "!HHIIBBHHH",
            *(source[1], target[1], self._next[source], 0),
            *(5 << 4, flags, 1000, 0, 0),
        )
        ip = struct.pack(
            "!BBHHHBBH4s4s",
            *(0x45, 0, 40 + len(data), 0, 0, 64, 6, 0),
            *(source[0], target[0]),
        )
        ethernet = bytes(12) + struct.pack("!H", 0x0800)
        # Short frames are padded.
        frame = (ethernet + ip + tcp + data).ljust(60, b"\0")
        self.records.append((time_ns, frame))
        length = len(data) + bool(flags & (SYN | FIN))
        self._next[source] = (self._next[source] + length) % 2**32

    def data_records(self):
        """Returns the numbers of the records with data."""
        return [
            number
            for number, record in enumerate(self.records)
            if capture.parse(*record).data
        ]


def _exchange(conversation, request, response):
    """Adds all calls; request, response: make the bytes of a call."""
    for call in range(CALLS):
        at = 1000 + call * INTERVAL_NS
        data = request(call)
        conversation.send(at - 500, CLIENT, data[:50])
        conversation.send(at, CLIENT, data[50:])
        conversation.send(at + 10, SERVER)
        data = response(call)
        conversation.send(at + WIRE_NS, SERVER, data[:7])
        conversation.send(at + WIRE_NS + 500, SERVER, data[7:])
    conversation.send(CALLS * INTERVAL_NS, CLIENT, flags=FIN | ACK)


TCP_GREETING = b"distbtcp" + bytes(72)


def tcp_frame(kind, call, size):
    return struct.pack("<IIQ", size, kind << 24 | 16, call) + b"D" * size


def tcp_conversation():
    conversation = Conversation()
    conversation.send(100, CLIENT, TCP_GREETING)
    conversation.send(200, SERVER, TCP_GREETING)
    _exchange(
        conversation,
        lambda call: tcp_frame(1, call, REQUEST_BYTES),
        lambda call: tcp_frame(2, call, RESPONSE_BYTES),
    )
    return conversation


def thrift_frame(kind, method, call, size):
    body = struct.pack("!II", 0x80010000 + kind, len(method)) + method
    body += struct.pack("!IBHI", call, 11, kind % 2, size) + bytes(size + 1)
    return struct.pack("!I", len(body)) + body


def thrift_conversation():
    conversation = Conversation()
    conversation.send(100, CLIENT, thrift_frame(1, b"Handshake", 0, 34))
    conversation.send(200, SERVER, thrift_frame(2, b"Handshake", 0, 34))
    _exchange(
        conversation,
        lambda call: thrift_frame(1, b"GenericRpc", call, REQUEST_BYTES),
        lambda call: thrift_frame(2, b"GenericRpc", call, RESPONSE_BYTES),
    )
    return conversation


DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
END_STREAM, END_HEADERS, PADDED = 1, 4, 8

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def http_frame(kind, flags, stream, body):
    length = struct.pack("!I", len(body))[1:]
    return length + struct.pack("!BBI", kind, flags, stream) + body


def grpc_message(first_byte, size):
    message = bytes([first_byte]) + bytes(size - 1)
    return struct.pack("!BI", 0, size) + message


def grpc_request(stream, message, flags=END_STREAM):
    return http_frame(HEADERS, END_HEADERS, stream, b"path") + http_frame(
        DATA, flags, stream, message
    )


def grpc_response(stream, message):
    return (
        http_frame(HEADERS, END_HEADERS, stream, b"ok")
        + http_frame(DATA, 0, stream, message[:20])
        + http_frame(WINDOW_UPDATE, 0, 0, bytes(4))
        + http_frame(DATA, 0, stream, message[20:])
        + http_frame(HEADERS, END_HEADERS | END_STREAM, stream, b"status")
    )


def grpc_conversation():
    conversation = Conversation()
    settings = http_frame(SETTINGS, 0, 0, b"")
    handshake = grpc_message(0x0A, 34)
    conversation.send(
        100, CLIENT, PREFACE + settings + grpc_request(1, handshake)
    )
    conversation.send(200, SERVER, settings + grpc_response(1, handshake))
    request = grpc_message(0x08, REQUEST_BYTES)
    response = grpc_message(0x08, RESPONSE_BYTES)
    _exchange(
        conversation,
        lambda call: grpc_request(2 * call + 3, request),
        lambda call: grpc_response(2 * call + 3, response),
    )
    return conversation


DRIVERS = (
    (tcp_conversation, framing.tcp_traffic),
    (thrift_conversation, framing.thrift_traffic),
    (grpc_conversation, framing.grpc_traffic),
)

TRUTH = comparison.Reported(
    ended=CALLS,
    answered=CALLS,
    service_times=[WIRE_NS] * CALLS,
    minimum_ns=WIRE_NS,
    median_ns=WIRE_NS,
    request_bytes=CALLS * REQUEST_BYTES,
    response_bytes=CALLS * RESPONSE_BYTES,
)
ASKED_RATE = 1e9 / INTERVAL_NS


class CaptureTest(unittest.TestCase):
    def check(self, conversation, traffic_of):
        """Returns the differences from the truth."""
        connections = capture.connections(conversation.records)
        traffic = traffic_of(connections)
        return comparison.differences(TRUTH, traffic, ASKED_RATE)

    def test_right_results_are_right(self):
        for make, traffic_of in DRIVERS:
            with self.subTest(make.__name__):
                conversation = make()
                self.assertEqual(self.check(conversation, traffic_of), [])
                traffic = traffic_of(capture.connections(conversation.records))
                self.assertEqual(traffic.handshakes, 1)
                self.assertEqual(traffic.wire_times(), [WIRE_NS] * CALLS)
                self.assertEqual(capture.count_open(conversation.records), 0)

    def test_order_and_repetition_do_not_matter(self):
        for make, traffic_of in DRIVERS:
            with self.subTest(make.__name__):
                conversation = make()
                again = [
                    (time_ns + 10**9, frame)
                    for time_ns, frame in conversation.records[5:]
                ]
                tail = conversation.records[2:] + again
                random.Random(1).shuffle(tail)
                conversation.records[2:] = tail
                self.assertEqual(self.check(conversation, traffic_of), [])

    def test_every_lost_record_is_noticed(self):
        for make, traffic_of in DRIVERS:
            for number in make().data_records():
                with self.subTest(make.__name__, record=number):
                    conversation = make()
                    del conversation.records[number]
                    with self.assertRaises(capture.CaptureError):
                        self.check(conversation, traffic_of)

    def test_a_lost_call_is_noticed(self):
        """The last call, or its response, is lost as a whole, without a gap."""
        for make, traffic_of in DRIVERS:
            # Requests and responses have two segments each.
            for what, lost in (("requests", 4), ("responses", 2)):
                with self.subTest(make.__name__, lost=what):
                    conversation = make()
                    for number in reversed(conversation.data_records()[-lost:]):
                        del conversation.records[number]
                    found = self.check(conversation, traffic_of)
                    wrong = f"{what}: {CALLS} reported, {CALLS - 1} on the wire"
                    self.assertIn(wrong, found)

    def test_wrong_results_are_noticed(self):
        connections = capture.connections(tcp_conversation().records)
        traffic = framing.tcp_traffic(connections)
        times = TRUTH.service_times
        for wrong, expected in (
            ({"ended": CALLS + 1}, "requests: "),
            ({"ended": CALLS - 1}, "requests: "),
            ({"answered": CALLS + 1}, "responses: "),
            ({"answered": CALLS - 1}, "responses: "),
            ({"request_bytes": TRUTH.request_bytes + 1}, "request bytes: "),
            ({"response_bytes": TRUTH.response_bytes - 1}, "response bytes: "),
            ({"service_times": times[1:]}, "samples: "),
            ({"service_times": [WIRE_NS - 1, *times[1:]]}, "service time of "),
            ({"minimum_ns": WIRE_NS - 1}, "minimum: "),
        ):
            with self.subTest(str(wrong)):
                reported = dataclasses.replace(TRUTH, **wrong)
                found = comparison.differences(reported, traffic, ASKED_RATE)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(expected), found)

    def test_wrong_rates_are_noticed(self):
        connections = capture.connections(tcp_conversation().records)
        traffic = framing.tcp_traffic(connections)
        for factor, is_noticed in (
            *((0.98, True), (0.995, False)),
            *((1.005, False), (1.02, True)),
        ):
            found = comparison.differences(TRUTH, traffic, ASKED_RATE * factor)
            self.assertEqual(bool(found), is_noticed, found)

    def test_a_pause_does_not_change_the_rate(self):
        times = [number * INTERVAL_NS for number in range(1000)]
        times[700:850] = [times[850]] * 150
        self.assertAlmostEqual(comparison.rate(times), ASKED_RATE)

    def test_malformed_streams_are_refused(self):
        request = grpc_message(0x08, REQUEST_BYTES)
        tcp, grpc = framing.tcp_traffic, framing.grpc_traffic
        thrift = framing.thrift_traffic
        call = thrift_frame(1, b"GenericRpc", 0, 9)
        greeting = TCP_GREETING
        for what, traffic_of, to_server, to_client in (
            ("not tcp", tcp, PREFACE, b""),
            ("not gRPC", grpc, TCP_GREETING, b""),
            ("no frame", tcp, greeting + b"D", greeting),
            ("reply", tcp, greeting + tcp_frame(2, 0, 9), greeting),
            ("twice", tcp, greeting + 2 * tcp_frame(1, 0, 9), greeting),
            ("no request", tcp, greeting, greeting + tcp_frame(2, 0, 9)),
            ("not thrift", thrift, TCP_GREETING, b""),
            ("exception", thrift, thrift_frame(3, b"GenericRpc", 0, 9), b""),
            ("twice", thrift, 2 * call, b""),
            ("no end", thrift, call[:-1] + b"D", b""),
            ("no frame", grpc, PREFACE + b"D", b""),
            ("part", grpc, PREFACE + grpc_request(1, request[:-1]), b""),
            ("no message", grpc, PREFACE + grpc_request(1, b""), b""),
            ("no end", grpc, PREFACE + grpc_request(1, request, 0), b""),
            (
                "padding",
                grpc,
                PREFACE + grpc_request(1, request, END_STREAM | PADDED),
                b"",
            ),
        ):
            with self.subTest(what), self.assertRaises(capture.CaptureError):
                conversation = Conversation()
                conversation.send(1, CLIENT, to_server)
                conversation.send(2, SERVER, to_client)
                connections = capture.connections(conversation.records)
                traffic_of(connections).wire_times()

    def test_files(self):
        records = tcp_conversation().records
        content = struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
        for time_ns, frame in records:
            content += struct.pack(
                "=IIII", *divmod(time_ns, 10**9), len(frame), len(frame)
            )
            content += frame
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test.pcap")
            for length in (len(content), len(content) - 1):
                with open(path, "wb") as file:
                    file.write(content[:length])
                if length == len(content):
                    self.assertEqual(capture.read_records(path), records)
                else:
                    with self.assertRaises(capture.CaptureError):
                        capture.read_records(path)


if __name__ == "__main__":
    testing_main.main()
