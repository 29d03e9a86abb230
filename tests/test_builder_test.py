# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""test_builder on real clusters: the documented main task, end to end."""

import os
import signal
import unittest

from tests import programs
from tests import testing_main

PATTERN = "client_server:client_count=1:server_count=1:parallel_queries=100"

# The pattern's first 1000 RPCs are its warm-up, which must be over within this
# time even on a busy machine.
TEST_SECONDS = "5"

NAME = "client_server_1x1x100-grpc_polling_inline"

SUMMARY_LINES = (
    r"^Test summary:$",
    r"^RPC latency summary:$",
    r"^  client_server_rpc: N: \d+ min: \d+ns median: \d+ns 90%: \d+ns "
    r"99%: \d+ns",
    r"^Communication summary:$",
    r"^  client/0 -> server/0: RPCs: \d+ \(\d+\.\d\d kQPS\) Request: ",
    r"^Instance summary:$",
    r"^  client/0: Tx: \d+\.\d MiB/s, Rx:\d+\.\d MiB/s$",
    r"^  server/0: Tx: \d+\.\d MiB/s, Rx:\d+\.\d MiB/s$",
    r"^Global summary:$",
    r"^  Total time: \d\.\d\d\ds$",
)


class TestBuilderTest(programs.ClusterTest):
    def build_and_run(self, address, *arguments):
        return self.run_to_end(
            programs.TEST_BUILDER,
            PATTERN,
            "-s",
            address,
            "-o",
            self.folder,
            "-t",
            TEST_SECONDS,
            *arguments,
        )

    def assert_measured(self, outcome):
        self.assertEqual(outcome.status, 0, outcome)
        for line in SUMMARY_LINES:
            self.assertRegex(outcome.out, "(?m)" + line)
        self.assertEqual(
            sorted(os.listdir(self.folder)), [NAME + ".config", NAME + ".pb.gz"]
        )

    def test_measures_on_the_localhost_cluster(self):
        cluster = self.start(programs.START_SCRIPT, "-n", "2", "-p", "0")
        port = cluster.wait_for(r"are ready at localhost:(\d+)\.").group(1)
        address = f"127.0.0.1:{port}"
        self.assert_measured(self.build_and_run(address))

        result = self.path(NAME + ".pb.gz")
        report = self.distbench("report", result)
        self.assertEqual(report.status, 0, report)
        self.assertIn(f"Test: {NAME}\n", report.out)

        written = os.stat(result).st_mtime_ns
        again = self.build_and_run(address)
        self.assertEqual(again.status, 0, again)
        self.assertNotIn("Test summary", again.out)
        self.assertEqual(os.stat(result).st_mtime_ns, written)

        self.assertEqual(cluster.stop(signal.SIGINT).status, 0)
        self.assert_nothing_runs()

    def test_measures_on_three_separate_processes(self):
        sequencer = self.start_sequencer()
        nodes = [self.start_node(sequencer) for _ in range(2)]
        self.assert_measured(self.build_and_run(sequencer.address))
        for program in (*nodes, sequencer):
            self.assertEqual(program.stop().status, 0)
        self.assert_nothing_runs()

    def test_config_is_what_check_test_accepts(self):
        outcome = self.run_to_end(
            programs.TEST_BUILDER, PATTERN, "-o", self.folder
        )
        self.assertEqual(outcome.status, 0, outcome)
        config = self.path(NAME + ".config")
        check = self.distbench("check_test", f"--infile={config}")
        self.assertEqual(check.status, 0, check)

    def test_too_few_nodes_are_said(self):
        sequencer = self.start_sequencer("--local_nodes=1")
        outcome = self.build_and_run(sequencer.address)
        self.assertNotEqual(outcome.status, 0, outcome)
        self.assertIn("needs 2 nodes", outcome.err)
        self.assertNotIn(NAME + ".pb.gz", os.listdir(self.folder))

    def test_interrupt_stops_it_and_frees_the_nodes(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        run = self.start(
            programs.TEST_BUILDER,
            PATTERN,
            "-s",
            sequencer.address,
            "-o",
            self.folder,
            "-t",
            "600",
        )
        run.wait_for(r": started", "err")
        outcome = run.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertNotIn(NAME + ".pb.gz", os.listdir(self.folder))
        os.remove(self.path(NAME + ".config"))
        self.assert_measured(self.build_and_run(sequencer.address))


if __name__ == "__main__":
    testing_main.main()
