# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests on a cluster of three processes: output, files and exit status."""

import os
import signal
import subprocess
import unittest
import xml.etree.ElementTree

from tests import programs
from tests import testing_main

ITERATIONS = 2000
COUNTED = f"max_iteration_count: {ITERATIONS} max_parallel_iterations: 10"

SUMMARY = (
    "Test summary:\n"
    "RPC latency summary:\n"
    rf"  ping: N: {ITERATIONS} min: \d+ns median: \d+ns 90%: \d+ns 99%: \d+ns"
    r" 99\.9%: \d+ns max: \d+ns\n"
    "Communication summary:\n"
    rf"  client/0 -> server/0: RPCs: {ITERATIONS} \(\d+\.\d\d kQPS\)"
    r" Request: \d+\.\d MiB/s Response: \d+\.\d MiB/s\n"
    "Instance summary:\n"
    r"  client/0: Tx: \d+\.\d MiB/s, Rx:\d+\.\d MiB/s\n"
    r"  server/0: Tx: \d+\.\d MiB/s, Rx:\d+\.\d MiB/s\n"
    "Global summary:\n"
    rf"  Total samples: {ITERATIONS}\n"
    r"  Failed samples: 0\n"
    r"  Warmup samples: 0\n"
    r"  Total time: \d+\.\d\d\ds\n"
    rf"  Total Tx: \d+ MiB \(\d+\.\d MiB/s\), Total Nb RPCs: {ITERATIONS}"
    r" \(\d+\.\d\d kQPS\)\n"
)


# A server that takes 10 ms per request, and a client that sends a thousand
# requests per second with at most one in flight.
OVERLOAD = """
tests {
  name: "overload"
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "ping" client: "client" server: "server" }
  actions {
    name: "send" rpc_name: "ping"
    iterations {
      open_loop_interval_ns: 1000000
      max_duration_us: 500000
      max_parallel_iterations: 1
    }
  }
  actions { name: "work" activity_config_name: "sleep" }
  activity_configs {
    name: "sleep"
    activity_settings { name: "activity_func" string_value: "SleepFor" }
    activity_settings { name: "duration_us" int64_value: 10000 }
  }
  action_lists { name: "client" action_names: "send" }
  action_lists { name: "ping" action_names: "work" }
}
"""


class RunTestsTest(programs.ClusterTest):
    def start_cluster(self):
        sequencer = self.start_sequencer()
        self.nodes = [self.start_node(sequencer) for _ in range(2)]
        return sequencer

    def start_endless_run(self, sequencer):
        """Returns the client once traffic has started."""
        infile = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        client = self.start(
            programs.DISTBENCH,
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={infile}",
        )
        client.wait_for(r"client_server: started", "err")
        return client

    def test_summary_goes_to_stdout_and_progress_to_stderr(self):
        sequencer = self.start_cluster()
        infile = self.write(
            "two.config",
            programs.client_server_config(COUNTED, "first")
            + programs.client_server_config(COUNTED, "second"),
        )
        outcome = self.run_tests(sequencer, infile)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(outcome.out.count("Test summary:\n"), 2, outcome)
        self.assertRegex(outcome.out, SUMMARY)
        self.assertRegex(outcome.err, r"\[1/2\] first: done after")
        self.assertRegex(outcome.err, r"\[2/2\] second: done after")
        self.assertNotIn("Test summary", outcome.err)

    def test_terminal_gets_a_view_for_people(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        command = (
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={infile}",
            "--slo=ping p50<=1h",
        )
        status, view = self.on_terminal(80, *command, NO_COLOR="1")
        self.assertEqual(status, 0, view)
        self.assertRegex(
            view, r"^client_server: (ok|warn) \(1 met of 1 objective[^\n]*\)\n"
        )
        self.assertRegex(view, r"\nObjectives:\n  pass       ping p50<=1h: ")
        self.assertEqual(view.count("ping p50<=1h"), 1, view)
        self.assertRegex(
            view,
            r"\nRPCs:\n  RPC   achieved +mean +p50 +p95 +p99  failed\n  ping ",
        )
        self.assertNotIn("Test summary:", view)
        self.assertNotIn("\x1b", view)
        self.assertLessEqual(max(map(len, view.splitlines())), 80, view)

        status, view = self.on_terminal(50, *command, "--verbose")
        self.assertEqual(status, 0, view)
        self.assertIn("\x1b[32m  pass\x1b[0m", view)
        self.assertRegex(view, SUMMARY)

    def test_errors_name_the_flag_of_an_objective(self):
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        for objective, problem in (
            ("ping p99<5", 'the objective "ping p99<5" needs a duration'),
            ("pong p99<5ms", r"tests\[0\]\.objectives\[0\].*pong"),
        ):
            with self.subTest(objective=objective):
                outcome = self.distbench(
                    "run_tests",
                    infile,
                    f"--slo={objective}",
                    "--test_sequencer=localhost:1",
                )
                self.assertEqual(outcome.status, 1, outcome)
                self.assertRegex(outcome.err, f"^distbench: --slo: {problem}")

    def test_objectives_decide_the_exit_status(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))

        missed = self.run_tests(sequencer, infile, "--slo=ping p50<=1ns")
        self.assertEqual(missed.status, 2, missed)
        self.assertRegex(missed.out, r"Objectives:\nFAIL +client_server +ping p50<=1ns  ")

        # So few RPCs tell nothing of one in a hundred thousand.
        too_rare = "--slo=ping p99.999<=1h"
        undecided = self.run_tests(sequencer, infile, too_rare)
        self.assertEqual(undecided.status, 2, undecided)
        junit = self.path("checks.xml")
        allowed = self.run_tests(
            sequencer, infile, too_rare, "--allow_undecided", f"--junit={junit}"
        )
        self.assertEqual(allowed.status, 0, allowed)
        run, case = xml.etree.ElementTree.parse(junit).findall("testsuite/testcase")
        self.assertEqual(run.get("name"), "the run is valid")
        self.assertIsNotNone(run.find("system-out"))
        self.assertIsNotNone(case.find("skipped"))

    def test_outfile_can_be_reported(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        for name, flags in (
            ("text.pb", []),
            ("binary.pb", ["--binary_output"]),
            ("binary.pb.gz", ["--binary_output"]),
        ):
            with self.subTest(name=name):
                outfile = self.path(name)
                outcome = self.run_tests(
                    sequencer, infile, f"--outfile={outfile}", *flags
                )
                self.assertEqual(outcome.status, 0, outcome)
                report = self.distbench("report", outfile)
                self.assertEqual(report.status, 0, report)
                summary = outcome.out.removeprefix("Test summary:\n")
                self.assertEqual(report.out, "Test: client_server\n" + summary)

    def test_outfile_is_complete_though_nobody_reads_stdout(self):
        sequencer = self.start_cluster()
        infile = self.write(
            "two.config",
            programs.client_server_config(COUNTED, "first")
            + programs.client_server_config(COUNTED, "second"),
        )
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer) as stdout:
            outcome = subprocess.run(
                [
                    programs.DISTBENCH,
                    "run_tests",
                    f"--test_sequencer={sequencer.address}",
                    f"--infile={infile}",
                    f"--outfile={self.path('a.pb')}",
                ],
                stdout=stdout,
                stderr=subprocess.PIPE,
                env=self.environment(),
                timeout=programs.DEADLINE_SECONDS,
            )
        self.assertEqual(outcome.returncode, 0, outcome)
        report = self.distbench("report", self.path("a.pb"))
        self.assertIn("Test: first\n", report.out)
        self.assertIn("Test: second\n", report.out)

    def test_false_numbers_exit_3_unless_they_are_allowed(self):
        sequencer = self.start_cluster()
        infile = self.write("overload.config", OVERLOAD)
        outcome = self.run_tests(sequencer, infile)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertRegex(
            outcome.out,
            r"invalid \(unsent_load\): ping: \d+ of 50\d RPCs that were due",
        )
        self.assertIn("1 test is invalid", outcome.err)
        outcome = self.run_tests(sequencer, infile, "--allow_invalid")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("invalid (unsent_load)", outcome.out)

    def test_scripts_for_the_original_see_its_exit_statuses(self):
        sequencer = self.start_cluster()
        infile = self.write("overload.config", OVERLOAD)
        flag = "--legacy_exit_status"
        outcome = self.run_tests(sequencer, infile, flag)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("1 test is invalid", outcome.err)
        outcome = self.run_tests(sequencer, infile, flag, "--slo=ping p50<=1ns")
        self.assertEqual(outcome.status, 1, outcome)
        outcome = self.run_tests(
            sequencer, infile, flag, f"--outfile={self.path('no/such.pb')}"
        )
        self.assertEqual(outcome.status, 1, outcome)
        environment = self.environment(DISTBENCH_LEGACY_EXIT_STATUS="1")
        outcome = self.run_tests(sequencer, infile, env=environment)
        self.assertEqual(outcome.status, 0, outcome)

    def test_samples_are_left_out_on_request(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        sizes = []
        for flags in ([], ["--no_samples"]):
            outfile = self.path(f"{len(flags)}.pb")
            outcome = self.run_tests(
                sequencer,
                infile,
                f"--outfile={outfile}",
                "--binary_output",
                *flags,
            )
            self.assertEqual(outcome.status, 0, outcome)
            self.assertRegex(outcome.out, SUMMARY)
            sizes.append(os.path.getsize(outfile))
        self.assertGreater(sizes[0], 10 * ITERATIONS)
        self.assertLess(sizes[1], sizes[0] / 2)

    def test_no_outfile_by_default(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        before = os.listdir(self.folder)
        outcome = self.run_tests(sequencer, infile, cwd=self.folder)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(os.listdir(self.folder), before)

    def test_tests_may_come_from_stdin(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        with open(infile, encoding="utf-8") as stdin:
            outcome = self.distbench(
                "run_tests",
                f"--test_sequencer={sequencer.address}",
                stdin=stdin,
            )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, SUMMARY)

    def test_first_interrupt_cancels_the_test_and_frees_the_nodes(self):
        sequencer = self.start_cluster()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                client = self.start_endless_run(sequencer)
                outcome = client.stop(number)
                self.assertEqual(outcome.status, 3, outcome)
                self.assertIn("cancelled", outcome.err)

        counted = self.write("a.config", programs.client_server_config(COUNTED))
        outcome = self.run_tests(sequencer, counted)
        self.assertEqual(outcome.status, 0, outcome)

    def test_duration_limit_ends_a_test(self):
        sequencer = self.start_cluster()
        endless = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        outcome = self.run_tests(sequencer, endless, "--max_test_duration=1s")
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("Test summary:\n", outcome.out)
        self.assertRegex(outcome.out, r"ping: N: \d+ min:")

    def test_requirements_are_checked_before_the_traffic(self):
        sequencer = self.start_cluster()
        config = programs.client_server_config(COUNTED)

        def run(requirements):
            infile = self.write(
                "required.config",
                config.replace(
                    "tests {", f"tests {{ requirements {{ {requirements} }}"
                ),
            )
            return self.run_tests(sequencer, infile)

        unmet = 'facts { name: "min_cpus" int64_value: 1000000 }'
        outcome = run(unmet)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(
            outcome.out,
            r"node[01] \(host .*\) could not prepare its instances: its host "
            r"does not meet the test's requirements: min_cpus is \d+, but the "
            r"test requires at least 1000000\.",
        )
        self.assertIn("N: 0\n", outcome.out)
        outcome = run(unmet + " strict: false")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out + outcome.err, r"min_cpus is \d+, but")
        self.assertIn(f"N: {ITERATIONS} ", outcome.out)
        outcome = run('facts { name: "min_cpus" int64_value: 1 }')
        self.assertEqual(outcome.status, 0, outcome)
        self.assertNotIn("min_cpus", outcome.out + outcome.err)

    def test_lost_node_is_named(self):
        sequencer = self.start_cluster()
        client = self.start_endless_run(sequencer)
        self.nodes[1].kill()
        outcome = client.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("node1", outcome.out + outcome.err)

    def test_lost_sequencer_is_said(self):
        for number, message in (
            (signal.SIGKILL, r"^distbench: the test sequencer was lost: "),
            (
                signal.SIGTERM,
                r"^distbench: the test sequencer is shutting down$",
            ),
        ):
            with self.subTest(signal=number.name):
                sequencer = self.start_cluster()
                client = self.start_endless_run(sequencer)
                sequencer.stop(number)
                outcome = client.wait()
                self.assertEqual(outcome.status, 3, outcome)
                self.assertRegex(outcome.err, "(?m)" + message)

    def test_servers_end_well_on_a_signal(self):
        sequencer = self.start_cluster()
        for program, number in (
            (self.nodes[0], signal.SIGINT),
            (self.nodes[1], signal.SIGTERM),
            (sequencer, signal.SIGINT),
        ):
            outcome = program.stop(number)
            self.assertEqual(outcome.status, 0, outcome)
        self.assert_nothing_runs()

    def test_shutdown_after_tests_ends_every_process(self):
        sequencer = self.start_cluster()
        infile = self.write(
            "last.config",
            programs.client_server_config(COUNTED)
            + "tests_setting { shutdown_after_tests: true }",
        )
        self.assertEqual(self.run_tests(sequencer, infile).status, 0)
        for program in (*self.nodes, sequencer):
            outcome = program.wait()
            self.assertEqual(outcome.status, 0, outcome)
        self.assert_nothing_runs()

    def test_local_nodes_need_no_other_process(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        outcome = self.run_tests(sequencer, infile)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, SUMMARY)
        self.assertEqual(sequencer.stop().status, 0)

    def test_node_has_the_name_and_attributes_that_it_is_given(self):
        sequencer = self.start_sequencer()
        self.start_node(sequencer, "node7", "rack=a7")
        status = self.distbench(
            "status", f"--test_sequencer={sequencer.address}"
        )
        self.assertRegex(status.out, r"  node7 on \S+, idle .*rack=a7")


class PreviewTest(programs.ProgramTest):
    def test_everything_runs_on_one_node_in_one_process(self):
        infile = self.write(
            "a.config",
            programs.client_server_config(COUNTED).replace(
                'name: "server" count: 1', 'name: "server" count: 3'
            ),
        )
        outfile = self.path("a.pb")
        outcome = self.distbench(
            "test_preview", f"--infile={infile}", f"--outfile={outfile}"
        )
        self.assertEqual(outcome.status, 0, outcome)
        for server in range(3):
            self.assertIn(
                f"client/0 -> server/{server}: RPCs: {ITERATIONS} ", outcome.out
            )
        with open(outfile, encoding="utf-8") as file:
            self.assertEqual(file.read().count('node_alias: "node0"'), 4)
        self.assert_nothing_runs()

    def test_interrupt_ends_it(self):
        infile = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        preview = self.start(
            programs.DISTBENCH, "test_preview", f"--infile={infile}"
        )
        preview.wait_for(r"client_server: started", "err")
        outcome = preview.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("cancelled", outcome.err)
        self.assertIn("the run was cancelled by the user", outcome.out)
        self.assert_nothing_runs()


if __name__ == "__main__":
    testing_main.main()
