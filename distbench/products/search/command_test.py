# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench search` on a cluster of real processes, and its output files."""

import csv
import io
import json
import os
import re
import select
import signal
import time

from tests import programs
from tests import testing_main

OPEN_LOOP = "open_loop_interval_ns: 5000000 max_duration_us: 1000000"

# Requests take far longer than a busy machine is late to send them: a run whose
# latencies are mostly lateness is invalid, and meets nothing.
SLOW_SERVER = """
  activity_configs {
    name: "wait"
    activity_settings { name: "activity_func" string_value: "SleepFor" }
    activity_settings { name: "duration_us" int64_value: 50000 }
  }
  actions { name: "wait" activity_config_name: "wait" }
  action_lists { name: "ping" action_names: "wait" }"""


def _config():
    config = programs.client_server_config(OPEN_LOOP)
    at_once = 'action_lists { name: "ping" }'
    assert at_once in config
    return config.replace(at_once, SLOW_SERVER)


class SearchTest(programs.ClusterTest):
    """Uses short runs, because the figures are not tested."""

    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer()
        self.infile = self.write("test.config", _config())

    def arguments(self, *flags, final_duration="1s"):
        return (
            programs.DISTBENCH,
            "search",
            f"--test_sequencer={self.sequencer.address}",
            f"--infile={self.infile}",
            "--warmup=200ms",
            "--probe_duration=500ms",
            f"--final_duration={final_duration}",
            *flags,
        )

    def wait_for_file(self, path):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), end, path)
            select.select([], [], [], 0.05)

    def assert_reported(self, outcome):
        # The status is 3 if a run was invalid, such as for late sends.
        self.assertIn(outcome.status, (0, 3), outcome)

    def report(self, result, *flags):
        return self.distbench("report", result, *flags)

    def test_the_file_is_an_argument_or_a_flag(self):
        self.assert_one_file(self.infile, "search", "--test_sequencer=a:1")

    def test_knobs_of_the_config_complete(self):
        outcome = self.distbench(
            "complete", "--", "distbench", "search", self.infile, "--knob="
        )
        self.assertEqual(
            [line.partition("\t")[0] for line in outcome.out.splitlines()],
            [
                f"--knob={knob}"
                for knob in ("concurrency:send", "payload:small", "rate", "builder:")
            ],
        )

    def test_stops_at_the_highest_load_and_reports_it(self):
        for _ in range(2):
            self.start_node(self.sequencer)
        result = self.path("search.pb.gz")
        outcome = self.run_to_end(
            *self.arguments(
                "--slo=failures<=50%",
                "--max_qps=400",
                f"--outfile={result}",
            )
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("Verdict: upper_bound_hit", outcome.err)
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        self.assertEqual(
            [row["phase"] for row in rows], ["warmup", "bracket", "bracket"]
        )
        self.assertEqual([row["load"] for row in rows], ["200", "200", "400"])

        text = self.report(result)
        self.assert_reported(text)
        self.assertIn("upper_bound_hit: even the highest load", text.out)
        table = self.report(result, "--format=csv", "--table=search")
        self.assertEqual(table.out, outcome.out)
        document = json.loads(self.report(result, "--format=json").out)
        runs = self.distbench(
            "runs",
            "list",
            f"--test_sequencer={self.sequencer.address}",
            "--format=json",
        )
        # So that a history of the sequencer's results has them in no series.
        steps = [run["is_step"] for run in json.loads(runs.out)["runs"]]
        self.assertEqual(set(steps), {True}, runs)
        self.assertEqual(document["searches"][0]["load"], 400)
        self.assertEqual(len(document["searches"][0]["probes"]), 3)
        page = self.report(result, "--format=html")
        self.assertIn('"verdict":"upper_bound_hit"', page.out)

    def test_goes_on_where_it_was_interrupted(self):
        for _ in range(2):
            self.start_node(self.sequencer)
        result = self.path("search.pb")
        flags = (
            "--slo=failures<=50%",
            "--max_qps=6400",
            f"--csv={self.path('csv')}",
        )
        search = self.start(
            *self.arguments(
                *flags, f"--outfile={result}", "--binary_output"
            )
        )
        search.wait_for(r"^probe 2 bracket 200 met", stream="err")
        beside = self.run_to_end(*self.arguments(*flags, f"--resume={result}"))
        self.assertEqual(beside.status, 1, beside)
        self.assertIn(f"another distbench works on {result}", beside.err)
        outcome = search.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)

        again = self.run_to_end(*self.arguments(*flags, f"--outfile={result}"))
        self.assertEqual(again.status, 1, again)
        self.assertIn(f"--resume={result}", again.err)
        other = self.run_to_end(
            *self.arguments(
                "--slo=failures<=9%", "--max_qps=6400", f"--resume={result}"
            )
        )
        self.assertEqual(other.status, 1, other)
        self.assertIn("another search", other.err)
        self.assertIn('"failures<=50%" -> "failures<=9%"', other.err)

        # The file has the test and the flags.
        resumed = self.run_to_end(
            programs.DISTBENCH,
            "search",
            f"--test_sequencer={self.sequencer.address}",
            f"--csv={self.path('csv')}",
            f"--resume={result}",
        )
        self.assertEqual(resumed.status, 0, resumed)
        self.assertNotIn("probe 1 ", resumed.err)
        with open(result, "rb") as file:
            self.assertNotIn(b"searches {", file.read(), "is still binary")
        document = json.loads(self.report(result, "--format=json").out)
        numbers = [
            probe["number"] for probe in document["searches"][0]["probes"]
        ]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertEqual(document["searches"][0]["verdict"], "upper_bound_hit")

    def test_keeps_what_ended_without_an_answer(self):
        for _ in range(2):
            self.start_node(self.sequencer)
        arguments = self.arguments(
            "--slo=failures<=50%",
            "--max_qps=6400",
            "--max_probes=3",
            f"--csv={self.path('csv')}",
            f"--outfile={self.path('search.pb')}",
        )
        search = self.run_to_end(*arguments)
        self.assertEqual(search.status, 3, search)
        self.assertIn("budget_exhausted", search.err)
        again = self.run_to_end(*arguments)
        self.assertEqual(again.status, 1, again)
        self.assertIn("without an answer, after 3 probes", again.err)
        self.assertIn(f"--resume={self.path('search.pb')}", again.err)

    def test_runs_instances_and_a_command_beside_the_final_run(self):
        for _ in range(4):
            self.start_node(self.sequencer)
        result = self.path("two.pb.gz")
        outcome = self.run_to_end(
            *self.arguments(
                "--slo=ping failures<=50%",
                "--instances=2",
                "--qps=200",
                "--on_final=echo load $DISTBENCH_FINAL_LOAD",
                f"--outfile={result}",
            )
        )
        self.assertEqual(outcome.status, 0, outcome)
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        self.assertEqual(
            [row["instance"] for row in rows], ["overall", "1", "2"]
        )
        self.assertEqual(
            [row["requested_qps"] for row in rows],
            ["200.00", "100.00", "100.00"],
        )
        report = self.report(result, "--format=benchpress")
        self.assert_reported(report)
        document = json.loads(report.out)
        self.assertEqual(document["metrics"]["successful_instances"], 2)
        self.assertIn("2", document["metrics"])
        self.assertIn("load 200", document["benchmark_hooks"][0])

        report = self.report(result, "--format=benchpress", "--instance=2")
        self.assert_reported(report)
        document = json.loads(report.out)
        self.assertEqual(document["metrics"]["final_requested_qps"], 100)
        self.assertNotIn("2", document["metrics"])
        report = self.report(
            result, "--format=csv", "--table=search", "--instance=3"
        )
        self.assertEqual(report.status, 1, report)
        self.assertIn("instances 1 to 2", report.err)
        report = self.report(result, "--instance=1")
        self.assertEqual(report.status, 1, report)
        self.assertIn("goes with --format=csv --table=search", report.err)

        outcome = self.run_to_end(
            *self.arguments(
                "--slo=ping failures<=50%", "--instances=1000", "--cpu_slices"
            )
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("cores for 1000 instances", outcome.err)

    def test_a_refused_test_is_wrong_usage(self):
        # No traffic was sent: as with run_tests.
        self.start_node(self.sequencer)
        outcome = self.run_to_end(*self.arguments("--slo=failures<=50%"))
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("node", outcome.err)

    def test_so_is_a_resumption_that_is_refused(self):
        nodes = [self.start_node(self.sequencer) for _ in range(2)]
        result = self.path("search.pb")
        flags = (
            "--slo=failures<=50%",
            "--max_qps=6400",
            f"--csv={self.path('csv')}",
        )
        search = self.run_to_end(
            *self.arguments(*flags, "--max_probes=3", f"--outfile={result}")
        )
        self.assertEqual(search.status, 3, search)
        nodes[1].stop(signal.SIGINT)
        again = self.run_to_end(
            *self.arguments(*flags, "--max_probes=4", f"--resume={result}")
        )
        self.assertEqual(again.status, 1, again)
        self.assertIn("node", again.err)

        # Nor is any traffic sent if the file has other probes than are asked
        # for.
        with open(result, encoding="utf-8") as file:
            text = file.read()
        with open(result, "w", encoding="utf-8") as file:
            file.write(re.sub("requested_load: .*", "requested_load: 300", text))
        changed = self.run_to_end(
            *self.arguments(*flags, "--max_probes=4", f"--resume={result}")
        )
        self.assertEqual(changed.status, 1, changed)
        self.assertIn("is not what is asked for in its place", changed.err)

    def test_names_the_instance_whose_node_was_killed(self):
        nodes = [self.start_node(self.sequencer) for _ in range(4)]
        search = self.start(
            *self.arguments(
                "--slo=ping failures<=50%",
                "--instances=2",
                "--qps=200",
                f"--on_final=touch {self.path('begun')}",
                final_duration="300s",
            )
        )
        search.wait_for(r"^probe 1 \(final\)", stream="err")
        self.wait_for_file(self.path("begun"))  # there is traffic
        nodes[3].send(signal.SIGKILL)
        outcome = search.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("Verdict: invalid", outcome.err)
        self.assertRegex(
            outcome.err,
            r"instance \d: nothing was heard of \d\.(client|server)/0",
        )

    def test_usage_is_checked_before_any_traffic(self):
        for flags, message in (
            ((), "--slo"),
            (("--slo=pong p95<=1s",), '"ping"'),
            (("--slo=p95<=1s", "--knob=speed"), "is not a knob"),
            (("--slo=p95<=1s", "--knob=builder:clique:node_count"), "--infile"),
            (("--slo=p95<=1s", "--resume=a", "--outfile=b"), "exclude"),
            (("--slo=p95<=1s", "--instances=0"), "--instances"),
        ):
            with self.subTest(flags=flags):
                outcome = self.run_to_end(*self.arguments(*flags))
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn(message, outcome.err)


if __name__ == "__main__":
    testing_main.main()
