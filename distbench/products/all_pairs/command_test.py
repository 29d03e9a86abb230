# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench all_pairs` as docs/all_pairs.md has it, with nodes that have racks."""

import csv
import io
import json

from tests import programs
from tests import testing_main


class AllPairsTest(programs.ClusterTest):
    def all_pairs(self, sequencer, *flags):
        return self.distbench(
            "all_pairs",
            f"--test_sequencer={sequencer.address}",
            "--duration=2s",
            # The machine of the test may be busy.
            "--allow_invalid",
            *flags,
        )

    def test_measures_all_nodes_by_host_and_rack(self):
        sequencer = self.start_sequencer()
        for number in range(4):
            self.start_node(sequencer, f"rack=r{number // 2}")
        result = self.path("pairs.pb.gz")
        outcome = self.all_pairs(
            sequencer, f"--outfile={result}", "--binary_output"
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("All pairs:\n  4 nodes, 12 pairs: usual p50 ", outcome.out)
        self.assertIn("  p50 by rack, from clients", outcome.out)
        self.assertIn("servers (columns), response times:", outcome.out)

        table = self.distbench(
            "report", result, "--format=csv", "--table=all_pairs"
        )
        rows = list(csv.DictReader(io.StringIO(table.out)))
        # Of two tests, each by host and by rack.
        self.assertEqual(len(rows), 2 * (12 + 4))
        by_rack = [row for row in rows if row["by"] == "rack"]
        self.assertEqual(
            [(row["client"], row["server"], row["pairs"]) for row in by_rack[:4]],
            [("r0", "r0", "2"), ("r0", "r1", "4"), ("r1", "r0", "4"),
             ("r1", "r1", "2")],
        )
        text = self.distbench("report", result, "--format=all_pairs")
        self.assertIn(text.status, (0, 3), text)
        for name in ("steady", "burst"):
            self.assertRegex(text.out, rf"(?m)^all_pairs_{name}: (ok|warn|invalid)$")
        document = json.loads(
            self.distbench("report", result, "--format=json").out
        )
        for test in document["tests"]:
            self.assertEqual(len(test["all_pairs"]["cells"]["rows"]), 16)

    def test_refuses_what_cannot_be(self):
        sequencer = self.start_sequencer()
        outcome = self.all_pairs(sequencer)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("pairs need two nodes or more, and there are none", outcome.err)
        self.start_node(sequencer)
        outcome = self.all_pairs(sequencer)
        self.assertIn("and there is one", outcome.err)
        outcome = self.all_pairs(sequencer, "--nodes=2", "--protocol=carrier_pigeon")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("carrier_pigeon", outcome.err)

    def test_other_tests_have_no_pairs(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        self.wait_for_nodes(sequencer, 2)
        infile = self.write(
            "test.config", programs.client_server_config("max_iteration_count: 5")
        )
        result = self.path("other.pb.gz")
        outcome = self.run_tests(
            sequencer, infile, f"--outfile={result}", "--binary_output"
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertNotIn("All pairs", outcome.out)
        text = self.distbench("report", result, "--format=all_pairs")
        self.assertIn("measure all pairs by distbench all_pairs", text.err)


if __name__ == "__main__":
    testing_main.main()
