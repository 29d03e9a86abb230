# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Metrics of real processes, scraped by a real Prometheus; its alerts, and every
expression of Grafana's dashboard."""

import json
import os
import re
import shutil
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import yaml

from tests import programs
from tests import testing_main

FOLDER = os.path.abspath("deploy/grafana")
PROMTOOL = shutil.which("promtool")
PROMETHEUS = shutil.which("prometheus")

RPCS = 1200
PER_SECOND = 400

# An open loop between two nodes, with an objective that nothing misses.
CONFIG = f"""
tests {{
  name: "monitored"
  objectives: "ping failures<=50%"
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  node_service_bundles {{ key: "node0" value {{ services: "client/0" }} }}
  node_service_bundles {{ key: "node1" value {{ services: "server/0" }} }}
  rpc_descriptions {{ name: "ping" client: "client" server: "server" }}
  actions {{
    name: "send" rpc_name: "ping"
    iterations {{
      open_loop_interval_ns: {10**9 // PER_SECOND} max_iteration_count: {RPCS}
    }}
  }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""

# A test that is only warm-up: its result is invalid.
INVALID = programs.client_server_config(
    "max_iteration_count: 10 warmup_iterations: 10"
)


def listening_port(pid):
    """The TCP port on which a process listens, or None."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue  # Closed meanwhile.
        if match := re.fullmatch(r"socket:\[(\d+)\]", target):
            inodes.add(match.group(1))
    with open(f"/proc/{pid}/net/tcp", encoding="utf-8") as file:
        for line in list(file)[1:]:
            columns = line.split()
            if columns[3] == "0A" and columns[9] in inodes:
                return int(columns[1].rpartition(":")[2], 16)
    return None


@unittest.skipUnless(PROMTOOL, "needs Debian's package prometheus")
class FilesTest(programs.ProgramTest):
    """What needs no cluster: Prometheus' own checks of the files."""

    def promtool(self, *arguments):
        outcome = self.run_to_end(PROMTOOL, *arguments, cwd=FOLDER)
        self.assertEqual(outcome.status, 0, outcome)

    def test_the_files_are_valid(self):
        self.promtool("check", "rules", "alerts.yml")
        self.promtool("check", "config", "prometheus.yml")

    def test_alerts_fire_when_they_should(self):
        self.promtool("test", "rules", "alerts_test.yml")

    def test_every_alert_has_a_case(self):
        with open(os.path.join(FOLDER, "alerts.yml"), encoding="utf-8") as file:
            (group,) = yaml.safe_load(file)["groups"]
        with open(
            os.path.join(FOLDER, "alerts_test.yml"), encoding="utf-8"
        ) as file:
            fired = {
                case["alertname"]
                for test in yaml.safe_load(file)["tests"]
                for case in test["alert_rule_test"]
                if case["exp_alerts"]
            }
        self.assertEqual({rule["alert"] for rule in group["rules"]}, fired)


def dashboard_expressions():
    """Every expression of the dashboard, with values for its variables."""
    with open(
        os.path.join(FOLDER, "dashboard.json"), encoding="utf-8"
    ) as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"]
            for name, value in (
                ("$__rate_interval", "1m"),
                ("$test", ".*"),
                ("$rpc", ".*"),
            ):
                expression = expression.replace(name, value)
            yield panel["title"], expression


@unittest.skipUnless(PROMETHEUS, "needs Debian's package prometheus")
class MonitoringTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer("--metrics_port=0")
        nodes = [
            self.start_node(
                self.sequencer, "--metrics_port=0", "--listen=127.0.0.1"
            )
            for _ in range(2)
        ]
        self.start_prometheus(
            {
                "distbench_sequencer": [self.sequencer],
                "distbench_node": nodes,
            }
        )

    def start_prometheus(self, programs_by_job):
        """Starts Prometheus with the alerts, and scrapes often."""
        config = {
            "global": {"scrape_interval": "250ms", "evaluation_interval": "1s"},
            "rule_files": [os.path.join(FOLDER, "alerts.yml")],
            "scrape_configs": [
                {
                    "job_name": job,
                    "static_configs": [{"targets": self.targets(started)}],
                }
                for job, started in programs_by_job.items()
            ],
        }
        prometheus = self.start(
            PROMETHEUS,
            f"--config.file={self.write('prometheus.yml', yaml.dump(config))}",
            f"--storage.tsdb.path={self.path('data')}",
            "--web.listen-address=127.0.0.1:0",
        )
        prometheus.wait_for("Server is ready to receive web requests", "err")
        port = listening_port(prometheus.pid)
        self.assertIsNotNone(port, prometheus.text("err"))
        self.url = f"http://127.0.0.1:{port}/api/v1/"
        self.wait_until("sum(up)", 3)

    def targets(self, started):
        ports = [
            program.wait_for(r"Metrics at port (\d+)").group(1)
            for program in started
        ]
        return [f"127.0.0.1:{port}" for port in ports]

    def query(self, expression):
        """The labels and values of an expression's result."""
        url = self.url + "query?" + urllib.parse.urlencode(
            {"query": expression}
        )
        try:
            with urllib.request.urlopen(
                url, timeout=programs.DEADLINE_SECONDS
            ) as answer:
                result = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read()}") from None
        return [(one["metric"], float(one["value"][1])) for one in result]

    def wait_for(self, expression, condition):
        """Returns the result as soon as the condition is true of it."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while not condition(result := self.query(expression)):
            self.assertLess(time.monotonic(), end, (expression, result))
            time.sleep(0.05)
        return result

    def wait_until(self, expression, value):
        self.wait_for(
            expression, lambda result: [found for _, found in result] == [value]
        )

    def run_config(self, config):
        """Runs a test. Its numbers may be false on a busy machine."""
        outcome = self.run_tests(
            self.sequencer,
            self.write("test.config", config),
            f"--outfile={self.path('result.pb')}",
            "--allow_invalid",
        )
        self.assertEqual(outcome.status, 0, outcome)

    def test_counters_go_on_with_the_next_run(self):
        for run in (1, 2):
            self.run_config(CONFIG)
            labels = 'test="monitored",rpc="ping"'
            for expression in (
                f'distbench_rpc_ended_total{{{labels},outcome="succeeded"}}',
                f"distbench_rpc_offered_total{{{labels}}}",
                f"distbench_rpc_service_time_seconds_count{{{labels}}}",
                f"distbench_rpc_response_time_seconds_count{{{labels}}}",
                "distbench_rpc_service_time_seconds_bucket"
                f'{{{labels},le="+Inf"}}',
                'sum(distbench_rpcs_succeeded_total{job="distbench_node"})',
                'distbench_rpcs_succeeded_total{job="distbench_sequencer"}',
            ):
                self.wait_until(expression, run * RPCS)
            self.wait_until("sum(distbench_tests_ended_total)", run)
        # Nothing began anew, and nothing jumped, when the second run began.
        for name in (
            "distbench_rpcs_succeeded_total",
            "distbench_rpc_ended_total",
            "distbench_rpc_service_time_seconds_count",
        ):
            for _, resets in self.query(f"resets({name}[5m])"):
                self.assertEqual(resets, 0, name)
        ((_, most),) = self.query(
            "max(max_over_time(rate(distbench_rpcs_succeeded_total"
            '{job="distbench_node"}[4s])[2m:250ms]))'
        )
        self.assertLess(most, 2 * PER_SECOND)
        self.assertGreater(most, 0)

    def test_the_dashboard_and_the_alerts_have_data(self):
        self.run_config(CONFIG)
        self.run_config(INVALID)
        for title, expression in dashboard_expressions():
            with self.subTest(panel=title, expression=expression):
                self.wait_for(expression, bool)
        ((labels, _),) = self.wait_for("distbench_objective == 1", bool)
        self.assertEqual(
            (labels["test"], labels["objective"], labels["verdict"]),
            ("monitored", "ping failures<=50%", "pass"),
        )
        self.wait_for(
            'ALERTS{alertname="DistbenchResultInvalid",alertstate="firing"}',
            bool,
        )


if __name__ == "__main__":
    testing_main.main()
