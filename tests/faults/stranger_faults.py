# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Strangers that send unexpected data."""

import contextlib
import os
import random
import resource
import socket

from tests import certificates
from tests import programs
from tests.faults import cluster as clusters
from tests.faults import fault

BOGUS_CONNECTIONS = 10_000
MALFORMED_MESSAGES = 1000
MAX_GROWTH_BYTES = 50 << 20

FAULTS = fault.Faults()


def _resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _listening_ports(pid):
    """Returns the listening ports of the process's host."""
    ports = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                if fields[3] == "0A":
                    ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports


HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

GARBAGE = [
    b"",
    b"\0" * 4096,
    bytes(range(256)) * 16,
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xa5" * 600,
    HTTP2_PREFACE,
    HTTP2_PREFACE + b"\xff" * 4096,
    # SETTINGS of an impossible length, and a header block without meaning.
    HTTP2_PREFACE + b"\0\0\x05\x04\0\0\0\0\0abcde",
    HTTP2_PREFACE
    + b"\0\0\0\x04\0\0\0\0\0"
    + b"\0\0\x08\x01\x04\0\0\0\x01\xff" * 50,
]


def _pour(address, port, data):
    """Connects, sends and leaves, often in the middle of the answer."""
    try:
        with socket.create_connection((address, port), timeout=5) as connection:
            connection.sendall(data)
            connection.settimeout(0.005)
            connection.recv(4096)
    except OSError:
        pass  # Refused, reset and unanswered connections are all fine.


@FAULTS.add("garbage on every port of sequencer and nodes")
def garbage(cluster):
    processes = {
        "sequencer": cluster.sequencer,
        **{f"node{number}": node for number, node in cluster.nodes.items()},
    }

    def pour_everywhere():
        for host, program in processes.items():
            for port in _listening_ports(program.pid):
                for data in GARBAGE:
                    _pour(cluster.hosts[host].address, port, data)

    return fault.survive(cluster, pour_everywhere, undo=lambda: None, seconds=4)


def _survive_strangers(cluster, do):
    """Like fault.survive(), and checks the growth of the sequencer's memory."""
    pid = cluster.sequencer.pid
    before = _resident_bytes(pid)
    seen = fault.survive(cluster, do, undo=lambda: None, seconds=6)
    grown = _resident_bytes(pid) - before
    if grown > MAX_GROWTH_BYTES and not programs.SANITIZED:
        raise AssertionError(f"the sequencer has grown by {grown >> 20} MiB")
    seen.user_saw += f"; the sequencer grew by {grown / (1 << 20):.1f} MiB"
    return seen


def _raise_file_limit():
    """Returns how many connections this process may have."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    return hard_limit - 100


@FAULTS.add(
    f"{BOGUS_CONNECTIONS} bogus connections to the sequencer at the same time"
)
def bogus_connections(cluster):
    address = (cluster.hosts["sequencer"].address, clusters.PORT)
    at_once = min(BOGUS_CONNECTIONS, _raise_file_limit())

    def connect(number, stack):
        connection = socket.create_connection(address, timeout=30)
        stack.enter_context(connection)
        with contextlib.suppress(OSError):  # The peer may have closed it.
            connection.sendall(GARBAGE[number % len(GARBAGE)][:64])

    def connect_all():
        for start in range(0, BOGUS_CONNECTIONS, at_once):
            with contextlib.ExitStack() as stack:
                for number in range(
                    start, min(start + at_once, BOGUS_CONNECTIONS)
                ):
                    connect(number, stack)

    return _survive_strangers(cluster, connect_all)


def _frame(kind, flags, stream, payload):
    """Returns an HTTP/2 frame."""
    size = len(payload).to_bytes(3, "big")
    return size + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _grpc_call(method, message):
    """Returns the bytes of a client's call with these bytes as its message."""
    headers = {
        ":method": "POST",
        ":scheme": "http",
        ":path": f"/distbench.DistBenchTestSequencer/{method}",
        ":authority": "sequencer",
        "content-type": "application/grpc",
        "te": "trailers",
    }
    # Literal fields, not indexed, without Huffman codes: 0, then name and value
    # with their lengths.
    block = b""
    for name, value in headers.items():
        block += b"\0"
        for text in (name, value):
            block += bytes([len(text)]) + text.encode()
    data = b"\0" + len(message).to_bytes(4, "big") + message
    return (
        HTTP2_PREFACE
        + _frame(4, 0, 0, b"")
        + _frame(1, 4, 1, block)
        + _frame(0, 1, 1, data)
    )


METHODS = [
    *("NodeSession", "RunTests", "RunTestSequence", "GetStatus", "ListRuns"),
    *("GetRun", "CancelRun", "NoSuchMethod"),
]


@FAULTS.add(f"{MALFORMED_MESSAGES} malformed messages to the sequencer")
def malformed_messages(cluster):
    address = cluster.hosts["sequencer"].address
    chance = random.Random(1)

    def send_all():
        for number in range(MALFORMED_MESSAGES):
            message = chance.randbytes(chance.randrange(300))
            call = _grpc_call(METHODS[number % len(METHODS)], message)
            _pour(address, clusters.PORT, call)

    return _survive_strangers(cluster, send_all)


@contextlib.contextmanager
def _with_tls(cluster):
    """Gives all programs certificates; cluster.strangers has wrong ones."""
    addresses = [f"IP:{host.address}" for host in cluster.hosts.values()]
    flags = [
        certificates.Authority(cluster.folder, name).flags(
            "host", ",".join(addresses)
        )
        for name in ("authority", "stranger")
    ]
    cluster.tls_flags, stranger = flags
    cluster.strangers = {
        "another authority's certificate": stranger,
        "none": [],
    }
    yield


@FAULTS.add("clients with wrong certificates, and with none", _with_tls)
def wrong_certificates(cluster):
    words = []

    def come():
        for flags in cluster.strangers.values():
            done = cluster.run_client("status", tls_flags=flags)
            fault.check(done.returncode != 0, "a stranger was welcome", done)
            words.append(done.stderr.split("distbench: ", 1)[1].strip())

    seen = fault.survive(cluster, come, undo=lambda: None)
    seen.user_saw = fault.without_folder(
        cluster, "the strangers: " + "; ".join(words)
    )
    return seen
