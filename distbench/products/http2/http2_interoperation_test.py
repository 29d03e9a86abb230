# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Clients of other projects at a server of the http2 driver: nghttp2's h2load,
and gRPC's Python package; and a client of the driver at a server of the
latter."""

import hashlib
import hmac
import json
import os
import shutil
import unittest
from concurrent import futures

import grpc

from tests import programs
from tests import testing_main

PROGRAM = os.path.abspath(
    os.environ.get("DRIVER_THROUGHPUT", "bench/driver_throughput")
)
METHOD = "/distbench.Traffic/GenericRpc"
REQUEST_BYTES = 200_000
RESPONSE_BYTES = 100_000

# gRPC's prefix of a message without a byte, which asks for nothing.
EMPTY_BODY = "\0" * 5


# The field of a handshake's challenge and of its proof: 32 bytes.
HANDSHAKE_FIELD = b"\x0a\x20"


class ForeignClientTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        server = self.start(
            PROGRAM,
            "--server",
            "--driver=http2",
            f"--response_bytes={RESPONSE_BYTES}",
        )
        self.address = server.wait_for(r"^(\S+:\d+)\n").group(1)

    @unittest.skipUnless(
        shutil.which("h2load"), "needs Debian's package nghttp2-client"
    )
    def test_h2load(self):
        outcome = self.run_to_end(
            "h2load",
            *("-n", "1000", "-c", "4", "-m", "20"),
            *("-d", self.write("body", EMPTY_BODY)),
            *("-H", "content-type: application/grpc"),
            *("-H", "te: trailers"),
            f"http://{self.address}{METHOD}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("1000 succeeded, 0 failed, 0 errored", outcome.out)
        self.assertIn("status codes: 1000 2xx", outcome.out)

    def test_grpc_of_python(self):
        with grpc.insecure_channel(self.address) as channel:
            call = channel.unary_unary(METHOD)
            replies = [
                call.future(b"", timeout=programs.DEADLINE_SECONDS)
                for _ in range(100)
            ]
            for reply in replies:
                self.assertEqual(len(reply.result()), RESPONSE_BYTES)
                self.assertEqual(reply.code(), grpc.StatusCode.OK)
            unknown = channel.unary_unary("/distbench.Traffic/Unknown")
            with self.assertRaises(grpc.RpcError) as error:
                unknown(b"", timeout=programs.DEADLINE_SECONDS)
        refusal = error.exception
        self.assertEqual(refusal.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assertEqual(refusal.details(), "there is no such method")


class PythonServer:
    """Serves distbench.Traffic on loopback. Answers the first `capacity` RPCs,
    by what they have sent, and refuses the others."""

    def __init__(self, capacity):
        self.request_sizes = []
        self._capacity = capacity
        self._server = grpc.server(futures.ThreadPoolExecutor(1))
        handlers = {
            "Handshake": grpc.unary_unary_rpc_method_handler(self._handshake),
            "GenericRpc": grpc.unary_unary_rpc_method_handler(self._answer),
        }
        self._server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(
                    "distbench.Traffic", handlers
                ),
            )
        )
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self._server.start()

    def stop(self):
        self._server.stop(None).wait()

    def _handshake(self, request, _context):
        challenge = request.removeprefix(HANDSHAKE_FIELD)
        proof = hmac.digest(b"", challenge, hashlib.sha256)
        return HANDSHAKE_FIELD + proof

    def _answer(self, request, context):
        if len(self.request_sizes) == self._capacity:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "100 % is full")
        self.request_sizes.append(len(request))
        return request


class PythonServerTest(programs.ProgramTest):
    def outcome_of_client(self, server):
        self.addCleanup(server.stop)
        return self.run_to_end(
            PROGRAM,
            "--client",
            "--driver=http2",
            f"--target={server.address}",
            f"--request_bytes={REQUEST_BYTES}",
            *("--in_flight", "20"),
            *("--seconds", "0.2"),
            *("--warmup_seconds", "0"),
        )

    def test_serves_our_client(self):
        server = PythonServer(capacity=1_000_000)
        outcome = self.outcome_of_client(server)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            server.request_sizes,
            [REQUEST_BYTES] * json.loads(outcome.out)["total_rpcs"],
        )
        self.assertGreaterEqual(len(server.request_sizes), 20)

    def test_statuses_reach_our_client(self):
        server = PythonServer(capacity=30)
        outcome = self.outcome_of_client(server)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("RESOURCE_EXHAUSTED: 100 % is full", outcome.err)
        self.assertEqual(len(server.request_sizes), 30)


if __name__ == "__main__":
    testing_main.main()
