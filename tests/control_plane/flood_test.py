"""A sequencer among strangers: connections that are none, and messages that are
malformed, cost it little memory and its clients nothing.

Small numbers under `bazel test`; all of them, with figures:

  DISTBENCH_FLOOD=1 bazel test --test_output=all \\
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
AT_ONCE = 500  # connections that are open at the same time
MAX_GROWTH_BYTES = 50 << 20

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, HEADERS, DATA = 4, 1, 0
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload):
    """A frame of HTTP/2."""
    size = struct.pack(">I", len(payload))[1:]
    return size + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header field of HPACK, neither indexed nor compressed."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def request(method, message):
    """All of a connection that calls a method of the sequencer."""
    path = b"/distbench.DistBenchTestSequencer/" + method
    headers = b"".join(
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
    data = b"\0" + struct.pack(">I", len(message)) + message
    return (
        PREFACE
        + frame(SETTINGS, 0, 0, b"")
        + frame(HEADERS, END_HEADERS, 1, headers)
        + frame(DATA, END_STREAM, 1, data)
    )


def garbage(number, rng):
    """What the connection with this number says; None: nothing at all."""
    kinds = (
        None,
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00" + rng.randbytes(200),  # as of TLS
        rng.randbytes(1000),
        PREFACE,
        PREFACE + frame(SETTINGS, 0, 0, b"") + rng.randbytes(500),
        PREFACE + frame(HEADERS, END_HEADERS, 1, rng.randbytes(100)),
    )
    return kinds[number % len(kinds)]


class FloodTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer()
        host, port = self.sequencer.address.split(":")
        self.address = (host, int(port))
        for _ in range(2):
            self.start_node(self.sequencer)
        self.config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 10"),
        )
        # What it needs for its work does not count.
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
                pass  # It hangs up on strangers at any time.
        return connection

    def flood(self, total, what):
        """Makes connections, AT_ONCE of them open; returns the most memory."""
        rng = random.Random(1)
        most = self.resident_bytes()
        open_connections = []
        for number in range(total):
            open_connections.append(self.connect(what(number, rng)))
            if len(open_connections) > AT_ONCE:
                open_connections.pop(0).close()
            if number % 100 == 0:
                most = max(most, self.resident_bytes())
        # Legitimate clients, among them.
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
        self.assertLess(most - before, MAX_GROWTH_BYTES)
        self.assertLess(after - before, MAX_GROWTH_BYTES)

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


if __name__ == "__main__":
    testing_main.main()
