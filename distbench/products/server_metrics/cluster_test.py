# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Figures of servers, read by real nodes: of commands, and of a real Prometheus
that scrapes them."""

import csv
import io
import json
import re
import shutil
import time
import unittest
import urllib.parse
import urllib.request

from tests import programs
from tests import testing_main

PROMETHEUS = shutil.which("prometheus")

SECONDS = 4


def config(metrics, more=""):
    """A test of SECONDS, of which half a second is warm-up."""
    text = programs.client_server_config(
        f'max_duration: "{SECONDS}s" rate: "200/s" warmup: "500ms"'
    )
    return text.rstrip().removesuffix("}") + metrics + more + "}\n"


class ServerMetricsTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer()

    def run_config(self, text):
        self.result = self.path("result.pb")
        return self.run_tests(
            self.sequencer,
            self.write("test.config", text),
            f"--outfile={self.result}",
            "--allow_invalid",
        )

    # The numbers of a run may be false on a busy machine: the status is 3 then.
    def report(self):
        outcome = self.distbench("report", self.result, "--format=json")
        self.assertIn(outcome.status, (0, 3), outcome)
        return json.loads(outcome.out)["tests"][0]

    def table(self, table):
        outcome = self.distbench(
            "report", self.result, "--format=csv", f"--table={table}"
        )
        self.assertIn(outcome.status, (0, 3), outcome)
        return list(csv.DictReader(io.StringIO(outcome.out)))


class CommandTest(ServerMetricsTest):
    def test_a_command_is_read_in_the_time_of_the_traffic(self):
        lines = self.path("lines")
        # Counts how often it was run.
        self.start_node(
            self.sequencer,
            "node0",
            f"--server_metric_command=count=echo >>{lines}; wc -l <{lines}",
            "--server_metric_command=five=echo 5",
        )
        self.start_node(self.sequencer, "node1")
        outcome = self.run_config(
            config(
                'server_metrics { name: "runs" command: "count"'
                ' interval: "200ms" }\n'
                'server_metrics { name: "five" command: "five"'
                ' interval: "200ms" }',
                'objectives: "metric:five<=6" objectives: "metric:five<=4"',
            )
        )
        self.assertEqual(outcome.status, 2, outcome)
        self.assertRegex(outcome.out, r"pass\s.*metric:five<=6")
        self.assertRegex(outcome.out, r"FAIL\s.*metric:five<=4")
        row, _ = self.table("server_metrics")
        self.assertEqual((row["metric"], row["node"]), ("runs", "node0"))
        self.assertGreater(int(row["judged"]), 3)
        self.assertLess(int(row["judged"]), int(row["readings"]))
        self.assertLessEqual(int(row["readings"]), SECONDS / 0.2)
        readings = [
            one
            for one in self.table("server_metric_readings")
            if one["metric"] == "runs"
        ]
        values = [float(one["value"]) for one in readings if one["value"]]
        self.assertEqual(values, sorted(values))
        run = self.report()["run"]
        for one in readings:
            at = int(one["timestamp_ns"])
            self.assertGreater(at, run["start_timestamp_ns"])
            self.assertLess(at, run["end_timestamp_ns"] + 10**9)
        # Nobody reads on.
        with open(lines, encoding="utf-8") as file:
            count = len(file.read())
        time.sleep(0.5)
        with open(lines, encoding="utf-8") as file:
            self.assertEqual(len(file.read()), count)

    def test_a_node_runs_only_what_its_operator_allows(self):
        for name in ("node0", "node1"):
            self.start_node(
                self.sequencer, name, "--server_metric_command=other=echo 1"
            )
        outcome = self.run_config(
            config('server_metrics { name: "cpu" command: "rm" }')
        )
        self.assertNotEqual(outcome.status, 0, outcome)
        self.assertIn(
            'the node manager does not allow a command "rm"; start it with '
            "--server_metric_command=rm=COMMAND",
            outcome.err + outcome.out,
        )

    def test_a_wrong_flag_ends_a_node_at_once(self):
        outcome = self.distbench(
            "node_manager",
            f"--test_sequencer={self.sequencer.address}",
            "--server_metric_url=https://prometheus",
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("uses https", outcome.err)

    def test_a_command_that_hangs_does_not_hold_up_the_test(self):
        for name in ("node0", "node1"):
            self.start_node(
                self.sequencer, name, "--server_metric_command=hang=sleep 1000"
            )
        begin = time.monotonic()
        outcome = self.run_config(
            config(
                'server_metrics { name: "hang" command: "hang"'
                ' timeout: "10s" }'
            )
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertLess(time.monotonic() - begin, programs.DEADLINE_SECONDS / 2)
        (row,) = self.table("server_metrics")
        self.assertEqual((row["readings"], row["mean"]), ("0", ""))
        self.assertIn("there was no value when the traffic ended", outcome.out)

    def test_a_preview_and_simulated_hosts_read_nothing_and_say_so(self):
        infile = self.write(
            "test.config",
            config('server_metrics { name: "cpu" command: "cpu" }'),
        )
        outcome = self.distbench("test_preview", infile)
        self.assertIn("nobody has read the server metrics", outcome.out)


@unittest.skipUnless(PROMETHEUS, "needs Debian's package prometheus")
class PrometheusTest(ServerMetricsTest):
    def setUp(self):
        super().setUp()
        self.port = programs.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        nodes = [
            self.start_node(
                self.sequencer,
                name,
                "--metrics_port=0",
                "--listen=127.0.0.1",
                f"--server_metric_url={self.url}",
            )
            for name in ("node0", "node1")
        ]
        ports = [
            node.wait_for(r"Metrics at port (\d+)").group(1) for node in nodes
        ]
        targets = ", ".join(f'"127.0.0.1:{port}"' for port in ports)
        self.yaml = self.write(
            "prometheus.yml",
            "global: { scrape_interval: 200ms }\n"
            "scrape_configs:\n"
            "- job_name: node\n"
            f"  static_configs: [ {{ targets: [ {targets} ] }} ]\n",
        )
        self.prometheus = self.start(
            PROMETHEUS,
            f"--config.file={self.yaml}",
            f"--storage.tsdb.path={self.path('data')}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        )
        self.prometheus.wait_for(
            "Server is ready to receive web requests", "err"
        )
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while self.value_of("sum(up)") != 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def value_of(self, query):
        url = f"{self.url}/api/v1/query?" + urllib.parse.urlencode(
            {"query": query}
        )
        with urllib.request.urlopen(
            url, timeout=programs.DEADLINE_SECONDS
        ) as answer:
            result = json.load(answer)["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def metric(self, name, query, more=""):
        return (
            f'server_metrics {{ name: "{name}" interval: "250ms" {more}'
            f' prometheus {{ url: "{self.url}" query: "{query}" }} }}\n'
        )

    def test_queries_are_read_and_judged(self):
        outcome = self.run_config(
            config(
                self.metric(
                    "cpu",
                    "sum(rate(distbench_tests_cpu_seconds_total[1s]))",
                    'unit: "share"',
                )
                + self.metric("up", "sum(up)")
                + self.metric("each", "up")
                + self.metric("none", "no_such_metric")
                + self.metric("wrong", "sum("),
                'objectives: "metric:up>=2"',
            )
        )
        self.assertEqual(outcome.status, 0, outcome)
        rows = {row["metric"]: row for row in self.table("server_metrics")}
        self.assertGreater(float(rows["cpu"]["mean"]), 0)
        self.assertEqual(int(rows["cpu"]["look_back_ns"]), 10**9)
        self.assertLess(int(rows["cpu"]["judged"]), int(rows["up"]["judged"]))
        self.assertEqual(float(rows["up"]["mean"]), 2)
        # It is this host's clock.
        self.assertLess(abs(int(rows["up"]["clock_offset_ns"])), 10**9)
        findings = {
            finding["message"]
            for finding in self.report()["findings"]
            if finding["code"] == "server_metric_failed"
        }
        for name, problem in (
            ("each", "the query has 2 series; aggregate it"),
            ("none", "the query has no series"),
            ("wrong", "Prometheus says: "),
        ):
            self.assertTrue(
                any(
                    re.search(f"metric {name} failed.*{problem}", message)
                    for message in findings
                ),
                findings,
            )

    def test_a_prometheus_that_ends_is_a_finding(self):
        text = config(
            self.metric("up", "sum(up)"), 'objectives: "metric:up>=1"'
        )
        result = self.path("result.pb")
        running = self.start(
            programs.DISTBENCH,
            "run_tests",
            f"--test_sequencer={self.sequencer.address}",
            f"--infile={self.write('test.config', text)}",
            f"--outfile={result}",
            "--allow_invalid",
        )
        self.wait_for_traffic(self.sequencer.address)
        time.sleep(1)
        self.prometheus.kill()
        outcome = running.wait()
        self.assertEqual(outcome.status, 2, outcome)
        self.result = result
        (row,) = self.table("server_metrics")
        self.assertGreater(int(row["failed"]), 0)
        self.assertGreater(int(row["readings"]), 0)
        self.assertEqual(row["lower"], "")
        # The finding quotes the first failure, which may be a reading that was cut off.
        self.assertIn("(server_metric_failed): ", outcome.out)
        failures = [one["failure"] for one in self.table("server_metric_readings")]
        self.assertTrue(any("Connection refused" in one for one in failures), failures)
        (objective,) = self.report()["objectives"]
        self.assertEqual(objective["verdict"], "undecided")
        self.assertIn("failed", objective["evidence"])


if __name__ == "__main__":
    testing_main.main()
