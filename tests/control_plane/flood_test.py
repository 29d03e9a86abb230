# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A sequencer among strangers: connections without a purpose, and malformed
messages, cost it little memory and do not affect its clients.

Uses small numbers under `bazel test`. For large numbers, with figures:

  bazel test --test_env=DISTBENCH_FLOOD=1 --test_output=streamed \\
      //tests/control_plane:flood_test
"""

import concurrent.futures
import os
import random
import socket
import struct
import time
import unittest

from tests import programs
from tests import testing_main

FULL = "DISTBENCH_FLOOD" in os.environ
CONNECTIONS = 10_000 if FULL else 1_000
MESSAGES = 1_000 if FULL else 200
AT_ONCE = 500  # number of connections open at the same time
MAX_GROWTH_BYTES = 50 << 20
RECEIVE_MEMORY_BYTES = 100 << 20

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
WINDOW_UPDATE = 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4


def frame(kind, flags, stream, payload):
    """Returns an HTTP/2 frame."""
    size = struct.pack(">I", len(payload))[1:]
    return size + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """Returns an HPACK header field, neither indexed nor compressed."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def headers(method):
    """Returns the headers of a call of the sequencer's method."""
    path = b"/distbench.DistBenchTestSequencer/" + method
    return b"".join(
        literal(name, value)
        for name, value in (
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", path),
            (b":authority", b"localhost"),
            (b"te", b"trailers"),
            (b"content-type", b"application/grpc"),
        )
    )


def request(method, message):
    """Returns all bytes of a connection that calls a sequencer's method."""
    data = b"\0" + struct.pack(">I", len(message)) + message
    return (
        PREFACE
        + frame(SETTINGS, 0, 0, b"")
        + frame(HEADERS, END_HEADERS, 1, headers(method))
        + frame(DATA, END_STREAM, 1, data)
    )


def garbage(number, rng):
    """Returns the bytes sent by connection `number`; None: nothing at all."""
    kinds = (
        None,
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00" + rng.randbytes(200),  # like TLS
        rng.randbytes(1000),
        PREFACE,
        PREFACE + frame(SETTINGS, 0, 0, b"") + rng.randbytes(500),
        PREFACE + frame(HEADERS, END_HEADERS, 1, rng.randbytes(100)),
    )
    return kinds[number % len(kinds)]


class UnfinishedCalls:
    """Calls on one connection, each of which sends all but the last byte of a
    large message. Sends as much as the sequencer's windows allow."""

    def __init__(self, address, calls, message_bytes):
        self._connection = socket.create_connection(
            address, timeout=programs.DEADLINE_SECONDS
        )
        self.sent_bytes = 0
        self.broken_off = 0
        self._received = b""
        self._window = self._first_window = 65535
        prefix = b"\0" + struct.pack(">I", message_bytes)
        self._left = {}  # bytes by stream
        self._windows = {}  # bytes by stream
        self._connection.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
        for stream in range(1, 2 * calls, 2):
            self._left[stream] = message_bytes - 1
            self._windows[stream] = self._first_window - len(prefix)
            self._window -= len(prefix)
            self._connection.sendall(
                frame(HEADERS, END_HEADERS, stream, headers(b"RunTests"))
                + frame(DATA, 0, stream, prefix)
            )

    def send(self):
        """Runs until everything is sent, or until all calls are aborted."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        try:
            while self._left:
                if time.monotonic() > end:
                    raise AssertionError(f"bytes left to send: {self._left}")
                if not self._send_some():
                    self._read_frames()
        except ConnectionError:
            self.broken_off += len(self._left)

    def close(self):
        self._connection.close()

    def _send_some(self):
        self._left = {s: left for s, left in self._left.items() if left > 0}
        sent = False
        for stream, left in self._left.items():
            size = min(16384, left, self._window, self._windows[stream])
            if size <= 0:
                continue
            self._connection.sendall(frame(DATA, 0, stream, bytes(size)))
            self._left[stream] -= size
            self._windows[stream] -= size
            self._window -= size
            self.sent_bytes += size
            sent = True
        return sent

    def _read_frames(self):
        received = self._connection.recv(1 << 16)
        if not received:
            raise ConnectionResetError()
        self._received += received
        while len(self._received) >= 9:
            size = int.from_bytes(self._received[:3], "big")
            if len(self._received) < 9 + size:
                break
            kind, flags = self._received[3:5]
            stream = int.from_bytes(self._received[5:9], "big")
            self._on_frame(kind, flags, stream, self._received[9 : 9 + size])
            self._received = self._received[9 + size :]

    def _on_frame(self, kind, flags, stream, payload):
        if kind == RST_STREAM:
            self.broken_off += stream in self._left
            self._left.pop(stream, None)
        elif kind == GOAWAY:
            raise ConnectionResetError()
        elif kind == PING and not flags & ACK:
            self._connection.sendall(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE and stream == 0:
            self._window += int.from_bytes(payload, "big")
        elif kind == WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload, "big")
        elif kind == SETTINGS and not flags & ACK:
            for setting, value in struct.iter_unpack(">HI", payload):
                if setting == INITIAL_WINDOW_SIZE:
                    for other in self._windows:
                        self._windows[other] += value - self._first_window
                    self._first_window = value
            self._connection.sendall(frame(SETTINGS, ACK, 0, b""))


class FloodTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer(
            f"--receive_memory={RECEIVE_MEMORY_BYTES >> 20}"
        )
        host, port = self.sequencer.address.split(":")
        self.address = (host, int(port))
        for _ in range(2):
            self.start_node(self.sequencer)
        self.config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 10"),
        )
        # The memory that it needs for its normal work does not count.
        self.assert_clients_are_served()

    def resident_bytes(self):
        with open(
            f"/proc/{self.sequencer.pid}/statm", encoding="ascii"
        ) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def assert_clients_are_served(self):
        outcome = self.run_tests(self.sequencer, self.config)
        self.assertEqual(outcome.status, 0, outcome)

    def connect(self, bytes_to_send):
        connection = socket.create_connection(
            self.address, timeout=programs.DEADLINE_SECONDS
        )
        if bytes_to_send:
            try:
                connection.sendall(bytes_to_send)
            except OSError:
                pass  # The sequencer may hang up on strangers at any time.
        return connection

    def flood(self, total, what):
        """Makes connections, AT_ONCE at a time; returns the peak memory."""
        rng = random.Random(1)
        most = self.resident_bytes()
        open_connections = []
        for number in range(total):
            open_connections.append(self.connect(what(number, rng)))
            if len(open_connections) > AT_ONCE:
                open_connections.pop(0).close()
            if number % 100 == 0:
                most = max(most, self.resident_bytes())
        # Legitimate clients come in between.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            pool.submit(self.assert_clients_are_served).result()
        most = max(most, self.resident_bytes())
        for connection in open_connections:
            connection.close()
        return most

    def check(self, total, what, name):
        before = self.resident_bytes()
        start = time.monotonic()
        most = self.flood(total, what)
        seconds = time.monotonic() - start
        self.assert_clients_are_served()
        after = self.resident_bytes()
        print(
            f"{total} {name} in {seconds:.1f} s: "
            f"{before >> 20} MiB before, {most >> 20} at most, "
            f"{after >> 20} after"
        )
        self.assert_small(most - before)
        self.assert_small(after - before)

    def assert_small(self, growth_bytes, limit_bytes=MAX_GROWTH_BYTES):
        if not programs.SANITIZED:
            self.assertLess(growth_bytes, limit_bytes)

    def test_garbage_connections(self):
        self.check(CONNECTIONS, garbage, "garbage connections")

    def test_malformed_messages(self):
        methods = (
            b"RunTests",
            b"RunTestSequence",
            b"NodeSession",
            b"GetStatus",
        )

        def malformed(number, rng):
            return request(
                methods[number % len(methods)],
                rng.randbytes(rng.randrange(1, 2000)),
            )

        self.check(MESSAGES, malformed, "malformed messages")

    def test_messages_without_their_end(self):
        before = self.resident_bytes()
        unfinished = []
        for _ in range(2):
            calls = UnfinishedCalls(
                self.address, calls=5, message_bytes=60 << 20
            )
            self.addCleanup(calls.close)
            calls.send()
            unfinished.append(calls)
        most = self.resident_bytes()
        sent_bytes = sum(calls.sent_bytes for calls in unfinished)
        broken_off = sum(calls.broken_off for calls in unfinished)
        for calls in unfinished:
            calls.close()
        print(
            f"{sent_bytes >> 20} MiB of messages without an end: "
            f"{before >> 20} MiB before, {most >> 20} then; "
            f"{broken_off} calls were aborted"
        )
        self.assertGreater(sent_bytes, RECEIVE_MEMORY_BYTES)
        self.assertGreater(broken_off, 0)
        # The quota counts messages; the allocator keeps some of what was freed, 60 MiB
        # on a busy host. Without the quota, 600 MiB would be received.
        self.assert_small(most - before, 2 * RECEIVE_MEMORY_BYTES)
        self.wait_for_nodes(self.sequencer, 2)
        self.assert_clients_are_served()

    def test_a_client_that_needs_more_is_told(self):
        sequencer = self.start_sequencer("--receive_memory=16")
        lines = "".join(
            f'attributes {{ key: "{i}" value: "{"x" * 1_000_000}" }}\n'
            for i in range(40)
        )
        infile = self.write(
            "large.config",
            programs.client_server_config("max_iteration_count: 10").replace(
                "tests {", "tests {\n" + lines, 1
            ),
        )
        for flags in ((), ("--detach",)):
            outcome = self.run_tests(sequencer, infile, *flags)
            self.assertNotEqual(outcome.status, 0, outcome)
            self.assertIn("--receive_memory", outcome.err)


if __name__ == "__main__":
    testing_main.main()
