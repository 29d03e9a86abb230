# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Servers that fail on purpose, in real processes: what results and reports say
of it."""

import json
import unittest

from tests import programs
from tests import testing_main

# A request every millisecond for three seconds, and a server that stands still
# in the second one.
CONFIG = """
tests {
  name: "pause"
  default_protocol: "%s"
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "query" client: "client" server: "server" }
  action_lists { name: "client" action_names: "run" }
  action_lists { name: "query" }
  actions {
    name: "run" rpc_name: "query"
    iterations { rate: "1000/s" max_iteration_count: 3000 }
  }
  server_faults {
    name: "pause" service: "server" start: "1200ms" duration: "300ms"
    freeze: true
  }
}
"""

MS = 1_000_000
SECOND = 1000 * MS


class FaultsOfServersTest(programs.ClusterTest):

    def test_a_freeze_is_in_series_and_log(self):
        sequencer = self.start_sequencer()
        for i in range(2):
            self.start_node(sequencer, f"node{i}")
        for driver in ("grpc", "tcp"):
            with self.subTest(driver=driver):
                self.check_freeze(sequencer, driver)

    def check_freeze(self, sequencer, driver):
        result = self.path(f"{driver}.result")
        outcome = self.run_tests(
            sequencer,
            self.write(f"{driver}.config", CONFIG % driver),
            f"--outfile={result}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("Servers failed on purpose", outcome.out)
        self.assertIn("pause: server stands still: times: 1", outcome.out)
        self.assertIn("planned_faults", outcome.out)
        report = self.distbench("report", "--format=json", result)
        test = json.loads(report.out)["tests"][0]

        (fault,) = test["server_faults"]
        (time,) = fault["times"]
        begin, end = time["begin_timestamp_ns"], time["end_timestamp_ns"]
        since_start = begin - test["run"]["start_timestamp_ns"]
        # The machine may be busy: a worker may wake up late, but not early.
        self.assertGreaterEqual(since_start, 1190 * MS)
        self.assertLess(since_start, 2200 * MS)
        self.assertLess(end - begin, 1300 * MS)

        # The first request of the pause waited for its end.
        (rpc,) = test["rpcs"]
        self.assertEqual(rpc["succeeded_count"], 3000)
        self.assertGreaterEqual(
            rpc["response_time"]["max_ns"], 0.9 * (end - begin)
        )
        columns = test["seconds"]["columns"]
        rows = [dict(zip(columns, row)) for row in test["seconds"]["rows"]]
        slow = {
            row["start_timestamp_ns"] // SECOND
            for row in rows
            if (row["service_max_ns"] or 0) > 0.5 * (end - begin)
        }
        # The slowest of what waited is answered after the pause, which may be in
        # the next second.
        answered = begin + rpc["response_time"]["max_ns"] + 10 * MS
        self.assertTrue(
            slow & set(range(begin // SECOND, answered // SECOND + 1)), rows
        )


if __name__ == "__main__":
    testing_main.main()
