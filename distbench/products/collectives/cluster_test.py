# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Collectives on eight local nodes, as docs/products/collectives.md has them."""

import csv
import io
import json
import re

from tests import programs
from tests import testing_main


class CollectivesTest(programs.ClusterTest):
    def run_patterns(self, *patterns):
        """Returns the file of the results."""
        sequencer = self.start_sequencer("--local_nodes=8")
        self.wait_for_nodes(sequencer, 8)
        outdir = self.path("results")
        outcome = self.run_to_end(
            programs.TEST_BUILDER, *patterns, "-s", sequencer.address, "-o", outdir
        )
        self.assertEqual(outcome.status, 0, outcome)
        return outdir

    def table(self, results, table):
        outcome = self.distbench(
            "report", results, "--format=csv", f"--table={table}"
        )
        self.assertEqual(outcome.status, 0, outcome)
        return list(csv.DictReader(io.StringIO(outcome.out)))

    def test_every_operation_ends_and_is_reported(self):
        results = self.run_patterns(
            "collective:operation=all_reduce:algorithm=ring,tree,halving_doubling"
            ":iterations=20:warmup_iterations=2:size=65536:chunks=2",
            "collective:operation=all_gather,reduce_scatter,broadcast,pipeline"
            ":iterations=20:warmup_iterations=2:size=65536:groups=2:ranks=4",
            "collective:operation=all_to_all:algorithm=pairwise,direct:skew=0,1"
            ":iterations=20:warmup_iterations=2:size=65536",
        )
        rows = self.table(results, "collectives")
        self.assertEqual(len(rows), 3 + 4 * 2 + 4)
        for row in rows:
            self.assertEqual(row["iterations"], "20", row)
            self.assertEqual(row["unfinished"], "0", row)
            self.assertGreater(float(row["bus_bandwidth"]), 0, row)
            self.assertGreaterEqual(
                float(row["whole_p50_ns"]), float(row["after_last_begin_p50_ns"])
            )
        self.assertEqual(len(self.table(results, "collective_ranks")), 15 * 8 - 4 * 8)

    def findings_of(self, sequencer, name, faults):
        """Returns the messages of findings of four ranks, each of which asks an
        accelerator of its own to compute before each operation, by their codes."""
        builder = self.run_to_end(
            programs.TEST_BUILDER,
            "collective:ranks=4:iterations=40:size=4096:warmup_iterations=2",
        )
        self.assertEqual(builder.status, 0, builder)
        config = builder.out.replace(
            'services { name: "rank"',
            faults
            + """
            services { name: "accelerator" x_size: 4 }
            rpc_descriptions {
              name: "compute" client: "rank" server: "accelerator"
              fanout_filter: "same_x"
            }
            action_lists { name: "compute" }
            actions { name: "compute" rpc_name: "compute" }
            services { name: "rank" """,
        )
        # The operation waits for the computation.
        config, replaced = re.subn(
            r'(action_lists \{\s*name: "iteration"\s*)'
            r'(action_names: "all_reduce")',
            r'\1action_names: "compute" \2',
            config,
        )
        self.assertEqual(replaced, 1, config)
        config, replaced = re.subn(
            r'(actions \{\s*name: "all_reduce"\s)',
            r'\1dependencies: "compute" ',
            config,
        )
        self.assertEqual(replaced, 1, config)
        infile = self.write(f"{name}.config", config)
        result = self.path(f"{name}.pb.gz")
        outcome = self.run_tests(
            sequencer, infile, f"--outfile={result}", "--binary_output"
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("Collectives:\n  all_reduce: all_reduce by ring", outcome.out)
        document = self.distbench("report", result, "--format=json")
        test = json.loads(document.out)["tests"][0]
        self.assertEqual(len(test["collectives"]["ranks"]["rows"]), 4)
        return {
            finding["code"]: finding["message"]
            for finding in test["findings"]
            if finding["code"].startswith("slow_")
        }

    def test_who_is_slow_is_named_and_nobody_else(self):
        sequencer = self.start_sequencer("--local_nodes=8")
        self.wait_for_nodes(sequencer, 8)
        slow = """server_faults {{
            name: "slow" service: "{}" {} extra_latency: "10ms"
        }}"""
        with self.subTest("a rank computes slowly"):
            findings = self.findings_of(
                sequencer, "rank", slow.format("accelerator", "instances: 2")
            )
            self.assertEqual(list(findings), ["slow_rank"], findings)
            self.assertIn("rank/2/0 is the last to begin", findings["slow_rank"])
        with self.subTest("all ranks compute slowly"):
            findings = self.findings_of(
                sequencer, "all", slow.format("accelerator", "")
            )
            self.assertNotIn("slow_rank", findings)
        with self.subTest("a rank answers slowly"):
            # Who sends to it waits, and is the last to begin.
            findings = self.findings_of(
                sequencer, "link", slow.format("rank", "instances: 2")
            )
            self.assertEqual(list(findings), ["slow_messages"], findings)
            self.assertIn("rank/2/0 take up to 1", findings["slow_messages"])

    def test_a_rank_that_dies_is_no_hang(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        self.wait_for_nodes(sequencer, 2)
        # The second rank does fewer iterations than the first waits for.
        infile = self.write(
            "uneven.config",
            """
            tests {
              attributes { key: "test_timeout" value: "2" }
              services { name: "rank" x_size: 2 }
              rpc_descriptions {
                name: "pass_on" client: "rank" server: "rank"
                fanout_filter: "linear_x{1}"
              }
              action_lists { name: "pass_on" }
              action_lists {
                name: "rank" action_names: "send" action_names: "receive"
              }
              actions { name: "send" rpc_name: "pass_on" }
              actions {
                name: "receive" receive_rpc_name: "pass_on"
                record_iterations: true
                iterations { max_iteration_count: 3 }
                collective { operation: "broadcast" size: 16 }
              }
            }
            """,
        )
        outcome = self.run_tests(sequencer, infile)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("did not finish at ranks of rank/*", outcome.out)


if __name__ == "__main__":
    testing_main.main()
