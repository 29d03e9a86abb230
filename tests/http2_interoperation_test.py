"""Clients of other projects at a server of the http2 driver: nghttp2's h2load,
and gRPC's Python package."""

import os
import shutil
import unittest

import grpc

from tests import programs
from tests import testing_main

SERVER = os.path.abspath(
    os.environ.get("DRIVER_THROUGHPUT", "bench/driver_throughput")
)
METHOD = "/distbench.Traffic/GenericRpc"
RESPONSE_BYTES = 100_000

# gRPC's prefix of a message without a byte, which asks for nothing.
EMPTY_BODY = "\0" * 5


class Http2InteroperationTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        server = self.start(
            SERVER,
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


if __name__ == "__main__":
    testing_main.main()
