# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Engines are separate processes: what users see of them, and what remains when
they or their node managers end."""

import os
import signal
import time
import unittest

from tests import programs
from tests import testing_main

# The time in which a node manager and its engine notice that the other hangs.
PATIENCE_SECONDS = 5


def engine_of(node):
    """Returns the running test's engine, once the previous one is gone."""
    end = time.monotonic() + programs.DEADLINE_SECONDS
    while len(engines := programs.engines_of(node)) != 1:
        if time.monotonic() > end:
            raise AssertionError(f"there is not one engine, but {engines}")
        time.sleep(0.02)
    return engines[0]


class EngineProcessesTest(programs.ClusterTest):

    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer()
        self.nodes = [
            self.start_node(self.sequencer, f"node{i}") for i in range(2)
        ]

    def start_endless_run(self):
        config = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        run = self.start(
            programs.DISTBENCH,
            "run_tests",
            f"--test_sequencer={self.sequencer.address}",
            f"--infile={config}",
            f"--outfile={self.path('endless.result')}",
        )
        self.wait_for_traffic(self.sequencer.address)
        return run

    def assert_usable(self):
        config = self.write(
            "short.config",
            programs.client_server_config("max_iteration_count: 10"),
        )
        outcome = self.run_tests(self.sequencer, config)
        self.assertEqual(outcome.status, 0, outcome)

    def wait_for_end(self, pid):
        end = time.monotonic() + PATIENCE_SECONDS
        while pid in self.leftovers():
            self.assertLess(time.monotonic(), end, self.leftovers())
            time.sleep(0.02)

    def test_a_lost_engine_fails_its_test_and_nothing_else(self):
        for signal_number, words in (
            (signal.SIGSEGV, "was killed by signal 11 (Segmentation fault)"),
            (signal.SIGKILL, "was killed by signal 9 (Killed)"),
            (signal.SIGSTOP, "did not answer for 4s, and was killed"),
        ):
            with self.subTest(signal=signal_number):
                run = self.start_endless_run()
                engine = engine_of(self.nodes[1])
                os.kill(engine, signal_number)
                outcome = run.wait()
                self.assertEqual(outcome.status, 3, outcome)
                self.assertIn(
                    f"ended the traffic: server/0: its engine process {engine} "
                    + words,
                    outcome.out + outcome.err,
                )
                self.assertIn("client/0 -> server/0: RPCs: ", outcome.out)
                self.assert_usable()
        for node in self.nodes:
            self.assertTrue(node.running())

    def test_another_program_hosts_services_that_ask_for_it(self):
        engine = self.path("engine")
        os.symlink(os.path.realpath(programs.DISTBENCH), engine)
        sequencer = self.start_sequencer()
        self.start_node(sequencer, "node0")
        self.start_node(sequencer, "node1", f"--engine=new={engine}")
        status = self.distbench(
            "status", f"--test_sequencer={sequencer.address}"
        )
        self.assertRegex(status.out, r"engine new \(distbench .*, gRPC .*\)")
        config = programs.client_server_config(
            "max_iteration_count: 10"
        ).replace(
            "tests {",
            "tests { protocol_driver_options {"
            ' name: "default_protocol_driver_options" engine: "new" }',
            1,
        )
        outcome = self.run_tests(sequencer, self.write("t.config", config))
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(
            "node0: has no engine but its own program",
            outcome.out + outcome.err,
        )
        self.start_node(sequencer, "node2", f"--engine=new={engine}")
        outcome = self.run_tests(sequencer, self.write("t.config", config))
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(
            outcome.out,
            r"\n  new \(distbench .*, gRPC .*\): "
            r"client \(1 instance\), server \(1 instance\)\n",
        )

    def test_a_sequencer_without_nodes_has_no_use_for_engines(self):
        outcome = self.distbench(
            "test_sequencer", "--port=0", "--engine=new=/bin/true"
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("--engine is for the nodes of this process", outcome.err)

    def test_what_is_no_engine_is_refused_at_the_start(self):
        outcome = self.distbench(
            "node_manager",
            f"--test_sequencer={self.sequencer.address}",
            "--engine=new=/bin/true",
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(
            "--engine=new=/bin/true: /bin/true did not describe itself",
            outcome.err,
        )

    def run_on_limited_nodes(self, flags, config):
        """The outcome of a test on nodes whose engines have these limits."""
        sequencer = self.start_sequencer()
        nodes = [
            self.start_node(sequencer, f"node{i}", *flags) for i in range(2)
        ]
        outcome = self.run_tests(sequencer, self.write("t.config", config))
        for node in nodes:
            self.assertTrue(node.running())
        return outcome

    def test_engines_have_limits_of_their_own(self):
        few = programs.client_server_config("max_iteration_count: 10").replace(
            "tests {", "tests { workers_per_instance: 1", 1
        )
        limits = ("--engine_max_files=100", "--engine_max_threads=100")
        outcome = self.run_on_limited_nodes(limits, few)
        self.assertEqual(outcome.status, 0, outcome)
        many = few.replace("instance: 1", "instance: 90", 1)
        for flag, words in (
            (
                limits[0],
                "90 workers open up to 270 files, but this process may have "
                "100 open",
            ),
            (
                limits[1],
                ": its engine process needs up to",
            ),
        ):
            with self.subTest(flag=flag):
                outcome = self.run_on_limited_nodes((flag,), many)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn(words, outcome.out + outcome.err)
                self.assertIn(flag.split("=")[0], outcome.out + outcome.err)

    def test_threads_that_nobody_foresaw_end_the_test(self):
        # A pool that grows by a thread for each request that waits.
        config = programs.client_server_config(
            programs.ENDLESS + " max_parallel_iterations: 200"
        )
        config = config.replace(
            "tests {",
            """tests {
                 workers_per_instance: 1
                 protocol_driver_options {
                   name: "pooled" protocol_name: "grpc"
                   server_settings {
                     name: "server_type" string_value: "polling"
                   }
                   server_settings {
                     name: "threadpool_size" int64_value: 1
                   }
                 }
                 default_protocol: "pooled"
                 actions {
                   name: "wait" activity_config_name: "wait"
                 }
                 activity_configs {
                   name: "wait"
                   activity_settings {
                     name: "activity_func" string_value: "SleepFor"
                   }
                   activity_settings {
                     name: "duration_us" int64_value: 1000000
                   }
                 }""",
            1,
        ).replace(
            'action_lists { name: "ping" }',
            'action_lists { name: "ping" action_names: "wait" }',
        )
        self.assertIn('action_names: "wait"', config)
        outcome = self.run_on_limited_nodes(
            ("--engine_max_threads=100",), config
        )
        self.assertEqual(outcome.status, 3, outcome)
        self.assertRegex(
            outcome.out + outcome.err,
            r"server/0: its engine process has \d+ threads, but the node "
            r"manager's --engine_max_threads is 100",
        )

    def test_a_limit_beyond_the_kernels_is_refused(self):
        outcome = self.distbench(
            "node_manager",
            "--test_sequencer=localhost:1",
            "--engine_max_files=10000000",
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("is more than this process may give", outcome.err)

    def test_what_a_lost_client_measured_is_in_the_result(self):
        run = self.start_endless_run()
        # What was measured is kept each second, later on a busy host.
        run.wait_for(r": ([3-9]|\d\d+) s, .*RPCs", "err")
        engine = engine_of(self.nodes[0])
        os.kill(engine, signal.SIGKILL)
        outcome = run.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertRegex(
            outcome.out,
            rf"client/0: stopped early: its engine process {engine} was killed "
            r"by signal 9 \(Killed\); what it measured until "
            r"[-0-9]+ [:0-9]+ UTC is kept",
        )
        self.assertRegex(
            outcome.out,
            r"warn \(measurements_lost\): client/0: its measurements end \d+ s "
            "after the start",
        )
        self.assertRegex(outcome.out, r"ping: N: [1-9]\d* min: \d+ns median")
        self.assertRegex(outcome.out, r"Total time: [1-9]")
        with open(self.path("endless.result"), encoding="utf-8") as file:
            result = file.read()
        self.assertIn("measurements_end_timestamp_ns: ", result)
        table = self.distbench(
            "report", "--format=csv", "--table=seconds",
            self.path("endless.result"),
        )
        self.assertGreaterEqual(len(table.out.splitlines()), 3, table)

    def test_an_engine_ends_with_its_node_manager(self):
        run = self.start_endless_run()
        engine = engine_of(self.nodes[1])
        self.nodes[1].send(signal.SIGKILL)
        self.wait_for_end(engine)
        self.assertEqual(run.wait().status, 3)

    def test_an_engine_that_hangs_ends_with_its_node_manager(self):
        run = self.start_endless_run()
        engine = engine_of(self.nodes[1])
        os.kill(engine, signal.SIGSTOP)
        self.nodes[1].send(signal.SIGKILL)
        self.wait_for_end(engine)
        self.assertEqual(run.wait().status, 3)

    def test_an_engine_ends_when_its_node_manager_hangs(self):
        run = self.start_endless_run()
        engine = engine_of(self.nodes[1])
        self.nodes[1].send(signal.SIGSTOP)
        # It is a zombie until the node manager continues.
        self.wait_for_end(engine)
        self.nodes[1].send(signal.SIGCONT)
        self.assertEqual(run.wait().status, 3)
        self.wait_for_nodes(self.sequencer, 2)
        self.assert_usable()

    def test_results_say_what_an_engine_used(self):
        config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 1000"),
        )
        outfile = self.path("result")
        outcome = self.run_tests(
            self.sequencer, config, f"--outfile={outfile}"
        )
        self.assertEqual(outcome.status, 0, outcome)
        with open(outfile, encoding="utf-8") as file:
            result = file.read()
        for instance in ("client/0", "server/0"):
            self.assertRegex(
                result,
                rf'engine_usages {{\s+key: "{instance}"\s+value {{\s+'
                r"user_cpu_time_seconds: ",
            )

    def test_loopback_across_nodes_is_refused_by_name(self):
        config = self.write(
            "loopback.config",
            programs.client_server_config("max_iteration_count: 10").replace(
                "payload_descriptions",
                'default_protocol: "loopback" payload_descriptions',
            ),
        )
        outcome = self.run_tests(self.sequencer, config)
        self.assertNotEqual(outcome.status, 0)
        self.assertIn(
            "client/0 is on node0 and server/0 on node1", outcome.err
        )
        bundled = self.write(
            "bundled.config",
            open(config, encoding="utf-8").read().replace(
                "payload_descriptions",
                'node_service_bundles { key: "node1" value { '
                'services: "client/0" services: "server/0" } } '
                "payload_descriptions",
            ),
        )
        outcome = self.run_tests(self.sequencer, bundled)
        self.assertEqual(outcome.status, 0, outcome)

    def test_nothing_is_left(self):
        self.assert_usable()
        for node in self.nodes:
            self.assertEqual(node.stop().status, 0)
        self.sequencer.stop()
        self.assert_nothing_runs()


class EngineCommandTest(programs.ProgramTest):

    def test_is_not_for_users(self):
        outcome = self.distbench("engine")
        self.assertEqual(outcome.status, 1)
        self.assertIn("node managers start this", outcome.err)
        self.assertNotIn("\n  engine", self.distbench("help").out)


if __name__ == "__main__":
    testing_main.main()
