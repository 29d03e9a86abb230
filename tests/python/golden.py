# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Compares what the Python package reads of a result with what the program writes
in its formats."""

import csv
import io
import math

import distbench
from tests import programs

# Tables that CSV and the package both have.
TABLES = (
    "rpcs",
    "percentiles",
    "peers",
    "seconds",
    "samples",
    "resources",
    "faults",
    "time_parts",
    "cpus",
    "connections",
    "activities",
)


class GoldenTest(programs.ClusterTest):
    """Gives test cases assert_golden()."""

    maxDiff = None

    def report(self, path, *flags):
        outcome = self.distbench("report", path, *flags)
        self.assertIn(outcome.status, (0, 3), outcome)  # 3: numbers are false.
        return outcome.out

    def read(self, *paths):
        """Returns results, read by the program that is tested."""
        return distbench.read_results(*paths, program=programs.DISTBENCH)

    def assert_cell_is_that_of_csv(self, cell, text, where):
        """CSV has nine significant digits of numbers that are not whole, and
        nothing where a percentile failed."""
        if isinstance(cell, str):
            self.assertEqual(cell, text, where)
        elif cell is None or cell == math.inf:
            self.assertIn(text, ("", "failed"), where)
        else:
            self.assertAlmostEqual(
                cell, float(text), delta=1e-8 * max(abs(cell), 1e-3), msg=where
            )

    def assert_table_is_that_of_csv(self, table, path):
        """CSV may have further columns."""
        text = self.report(path, "--format=csv", f"--table={table.name}")
        expected = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(table.rows), len(expected), table.name)
        for i, (found, cells) in enumerate(zip(table.rows, expected)):
            for column, cell in zip(table.column_names, found):
                where = f"{table.name}, row {i}, {column}"
                self.assert_cell_is_that_of_csv(cell, cells[column], where)

    def assert_golden(self, path):
        """That every cell of every table is the same; returns the results."""
        results = self.read(path)
        for name in TABLES:
            self.assert_table_is_that_of_csv(results.table(name), path)
        json_path = self.write("report.json", self.report(path, "--format=json"))
        report = distbench.read_report(json_path)
        self.assertEqual(report.documents, results.documents)
        return results
