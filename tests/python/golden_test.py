# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that the Python package shows what the program does: every cell of every
table, and comparisons."""

import os
import re

import distbench
from tests import programs
from tests import testing_main
from tests.python import golden

MAKE_RESULT = "distbench/report/testing/make_example_result"

# Two seconds of everything that a result may hold: an open loop with failures, a
# closed loop, time parts, and samples.
CONFIG = """
tests {
  name: "both loops"
  measure_time_parts: true
  services { name: "client" count: 2 }
  services { name: "server" count: 2 }
  node_service_bundles {
    key: "node0" value { services: "client/0" services: "server/0" }
  }
  node_service_bundles {
    key: "node1" value { services: "client/1" services: "server/1" }
  }
  payload_descriptions { name: "small" size: 100 }
  rpc_descriptions {
    name: "open" client: "client" server: "server"
    request_payload_name: "small" response_payload_name: "small"
  }
  rpc_descriptions {
    name: "closed" client: "client" server: "server" fanout_filter: "round_robin"
    request_payload_name: "small" response_payload_name: "small"
  }
  actions {
    name: "send_open" rpc_name: "open"
    iterations {
      max_duration: "2s" open_loop_interval_ns: 2000000 warmup_iterations: 50
    }
  }
  actions {
    name: "send_closed" rpc_name: "closed"
    iterations { max_iteration_count: 500 warmup_iterations: 20 }
  }
  action_lists {
    name: "client" action_names: "send_open" action_names: "send_closed"
    max_rpc_samples: 200
  }
  server_faults {
    name: "slow" service: "server" extra_latency: "1ms"
    start: "500ms" duration: "100ms" repeat: "500ms"
  }
  server_faults {
    name: "error" service: "server" instances: 1 error_code: "UNAVAILABLE"
    probability: 0.1
  }
  action_lists { name: "open" }
  action_lists { name: "closed" }
}
"""


class GoldenTest(golden.GoldenTest):
    def make_result(self, name, *arguments):
        path = self.path(name)
        outcome = self.run_to_end(MAKE_RESULT, path, *arguments)
        self.assertEqual(outcome.status, 0, outcome)
        return path

    def test_synthetic_results(self):
        # Clients, servers, RPCs, seconds, RPCs a second: with blocks and without,
        # with few values and with many.
        for i, size in enumerate(
            (("2", "3", "2", "20", "50"), ("1", "1", "1", "3", "2"),
             ("1", "2", "1", "40", "2000"))
        ):
            self.assert_golden(self.make_result(f"{i}.pb", f"test{i}", *size))

    def test_kept_results_with_a_search(self):
        self.require_command("search")
        folder = "python/examples/data"
        for name in sorted(os.listdir(folder)):
            self.assert_golden(os.path.join(folder, name))
        results = self.read(folder)
        self.assertGreater(len(results.table("probes").rows), 0)

    def run_for_real(self, config):
        """Runs a test on two nodes; returns the path of its result."""
        sequencer = self.start_sequencer()
        for _ in range(2):
            self.start_node(sequencer)
        path = self.path("real.pb.gz")
        outcome = self.run_tests(
            sequencer,
            self.write("both.config", config),
            f"--outfile={path}",
            "--binary_output",
            "--allow_invalid",
        )
        self.assertEqual(outcome.status, 0, outcome)
        return path

    def test_a_real_result_with_time_stamps_of_the_wire(self):
        more = 'default_protocol: "tcp" measure_wire_time { share: 0.5 }'
        path = self.run_for_real(CONFIG.replace("services {", f"{more} services {{", 1))
        results = self.assert_golden(path)
        rpc = results.runs[0].rpc("open")
        self.assertGreater(rpc.wire_time.count, 100)
        self.assertLess(rpc.wire_time.count, rpc.succeeded)
        table = results.table("samples")
        wire_time = table.column_names.index("wire_time_ns")
        service_time = table.column_names.index("service_time_ns")
        stamped = [row for row in table.rows if row[wire_time] is not None]
        self.assertGreater(len(stamped), 0)
        for row in stamped:
            self.assertLessEqual(row[wire_time], row[service_time])

    def test_a_real_result(self):
        path = self.run_for_real(CONFIG)
        results = self.assert_golden(path)
        run = results.runs[0]
        self.assertGreater(run.rpc("open").response_time.count, 1000)
        self.assertEqual(run.rpc("closed").response_time.count, 0)
        self.assertGreater(len(results.table("samples").rows), 0)
        # "slow" of two instances, and "error" of one.
        self.assertEqual(len(results.table("faults").rows), 3)

        # The package writes what the program reads, in all encodings.
        expected = self.report(path, "--format=csv", "--table=percentiles")
        for name, text in (("copy.pb", False), ("copy.config.gz", True)):
            copy = self.path(name)
            results.write(copy, text=text)
            found = self.report(copy, "--format=csv", "--table=percentiles")
            self.assertEqual(found.replace(copy, path), expected)

    def test_comparisons_are_those_of_the_program(self):
        def group(name, factors):
            parts = [
                self.make_result(
                    f"part{i}.pb", "test", "1", "1", "1", "5", "100", factor
                )
                for i, factor in enumerate(factors)
            ]
            path = self.path(name)
            results = self.read(*parts)
            results.write(path)
            return results, path

        base, base_path = group("base.pb", ("1", "1.02", "0.97"))
        new, new_path = group("new.pb", ("1.3", "1.25", "1.4"))
        text = self.distbench("compare", base_path, new_path).out
        table = distbench.compare(base, new, program=programs.DISTBENCH)
        self.assertEqual(len(table.rows), 7)
        for row in table.rows:
            cells = dict(zip(table.column_names, row))
            self.assertIn(comparison_line(cells), re.sub(" +", " ", text))


def comparison_line(cells):
    """A row of the package's comparison as distbench compare ends it."""
    metric, verdict = cells["metric"], cells["verdict"]
    if verdict == "not comparable":
        return f"{metric} - - - - {verdict}: {cells['reason']}"
    if verdict == "no difference":
        verdict = "no difference shown"
    figures = [cells[name] for name in ("change", "lower", "upper")]
    if metric == "failures":
        change, lower, upper = (f"{100 * figure:+.3f} pp" for figure in figures)
    else:
        change, lower, upper = (f"x{figure:.3f}" for figure in figures)
    return f"{change} {lower} to {upper} {verdict}"


if __name__ == "__main__":
    testing_main.main()
