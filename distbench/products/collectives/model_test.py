# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Collectives on simulated hosts without costs, compared with the alpha-beta model:
a message of n bytes takes alpha + n * beta. With PRINT_TABLE in the environment, it
prints the comparison as docs/products/collectives.md has it."""

import csv
import io
import math
import os

from tests import programs
from tests import testing_main

GBPS = 8  # a byte per nanosecond
DELAY_NS = 5000  # of each of the two links of a path
ALPHA_NS = 2 * DELAY_NS
FABRIC = f"""
host {{ cpus: 4 }}
single_switch {{ host_link {{ gbps: {GBPS} delay_ns: {DELAY_NS} }} }}
stacks {{
  driver: "grpc"
  client_send {{ fixed_ns: 0 ns_per_byte: 0 batch_ns: 0 after_ns: 0 }}
  server_receive {{ fixed_ns: 0 ns_per_byte: 0 batch_ns: 0 }}
  server_send {{ fixed_ns: 0 ns_per_byte: 0 batch_ns: 0 after_ns: 0 }}
  client_receive {{ fixed_ns: 0 ns_per_byte: 0 batch_ns: 0 }}
  wakeup_ns: 0 wakeup_cpu_ns: 0 sigma: 0
}}
"""


def steps_ns(count, size):
    """Returns the time of steps one after the other. The answer to the last
    message of a rank takes another alpha."""
    return count * (ALPHA_NS + size)


def ring(ranks, size):
    return 2 * steps_ns(ranks - 1, size / ranks) + ALPHA_NS


def half_ring(ranks, size):
    return steps_ns(ranks - 1, size / ranks) + ALPHA_NS


def halving_doubling(ranks, size):
    return (
        2 * (math.log2(ranks) * ALPHA_NS + size * (ranks - 1) / ranks) + ALPHA_NS
    )


def tree(ranks, size):
    """Of a full tree, the bounds: at each level, a message of one child may wait for
    that of the other. What waits where depends on who began first."""
    levels = 2 * (math.log2(ranks + 1) - 1)
    return levels * (ALPHA_NS + size), levels * (ALPHA_NS + 2 * size)


CASES = [
    ("all_reduce", "ring", 4, ring),
    ("all_reduce", "ring", 16, ring),
    ("all_reduce", "halving_doubling", 16, halving_doubling),
    ("all_reduce", "halving_doubling", 64, halving_doubling),
    ("all_reduce", "tree", 7, tree),
    ("all_reduce", "tree", 31, tree),
    ("all_gather", "ring", 16, half_ring),
    ("reduce_scatter", "ring", 16, half_ring),
    ("all_to_all", "pairwise", 16, half_ring),
]
SIZES = [65536, 1048576]


class ModelTest(programs.ProgramTest):
    def simulated_ns(self, operation, algorithm, ranks, size):
        built = self.run_to_end(
            programs.TEST_BUILDER,
            f"collective:operation={operation}:algorithm={algorithm}"
            f":ranks={ranks}:size={size}:iterations=5:warmup_iterations=2",
        )
        self.assertEqual(built.status, 0, built)
        infile = self.write("model.config", built.out)
        fabric = self.write("model.fabric", FABRIC)
        result = self.path("model.pb.gz")
        outcome = self.distbench(
            "simulate", infile, f"--fabric={fabric}", "--quiet",
            f"--outfile={result}", "--binary_output", "--allow_invalid",
        )
        self.assertEqual(outcome.status, 0, outcome)
        table = self.distbench(
            "report", result, "--format=csv", "--table=collectives"
        )
        rows = list(csv.DictReader(io.StringIO(table.out)))
        self.assertEqual(len(rows), 1, table)
        self.assertEqual(rows[0]["iterations"], "5")
        return float(rows[0]["time_ns"])

    def test_takes_as_long_as_the_model_says(self):
        for operation, algorithm, ranks, model in CASES:
            for size in SIZES:
                with self.subTest(f"{operation} {algorithm} {ranks} {size}"):
                    simulated = self.simulated_ns(
                        operation, algorithm, ranks, size
                    )
                    expected = model(ranks, size)
                    least, most = (
                        expected
                        if isinstance(expected, tuple)
                        else (expected, expected)
                    )
                    if "PRINT_TABLE" in os.environ:
                        print(
                            f"| {operation} | {algorithm} | {ranks} | {size} "
                            f"| {least / 1e3:.1f} | {most / 1e3:.1f} "
                            f"| {simulated / 1e3:.1f} |"
                        )
                    # Answers to messages take a little of the links.
                    self.assertGreaterEqual(simulated, 0.98 * least)
                    self.assertLessEqual(simulated, 1.02 * most)


if __name__ == "__main__":
    testing_main.main()
