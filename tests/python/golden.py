"""Compares what the Python package computes with what the program does."""

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
)


def number(cell):
    """A cell of CSV as the package has it."""
    if cell == "":
        return None
    if cell == "failed":
        return math.inf
    try:
        return float(cell)
    except ValueError:
        return cell


class GoldenTest(programs.ClusterTest):
    """Gives test cases assert_golden()."""

    maxDiff = None

    def report(self, path, *flags):
        outcome = self.distbench("report", path, *flags)
        self.assertIn(outcome.status, (0, 3), outcome)  # 3: numbers are false.
        return outcome.out

    def assert_equal_cells(self, found, expected, where):
        """CSV has nine significant digits of numbers that are not whole."""
        if isinstance(expected, float) and math.isfinite(expected):
            self.assertIsNotNone(found, where)
            self.assertAlmostEqual(
                found, expected, delta=1e-8 * max(abs(expected), 1e-3), msg=where
            )
        else:
            self.assertEqual(found, expected, where)

    def assert_table_is_that_of_csv(self, table, path):
        text = self.report(path, "--format=csv", f"--table={table.name}")
        header, *rows = csv.reader(io.StringIO(text))
        self.assertEqual(table.column_names, header)
        self.assertEqual(len(table.rows), len(rows), table.name)
        for i, (found, expected) in enumerate(zip(table.rows, rows)):
            for column, cell, text in zip(header, found, expected):
                where = f"{table.name}, row {i}, {column}"
                if column in ("source", "test"):
                    self.assertEqual(cell, text, where)
                else:
                    self.assert_equal_cells(cell, number(text), where)

    def assert_same_tables(self, results, report):
        """That the JSON gives what the result gives."""
        for name in ("runs", "findings", *TABLES, "searches", "probes"):
            if name == "samples":
                continue  # JSON has none.
            self.assertEqual(
                report.table(name).column_names, results.table(name).column_names
            )
            found, expected = report.table(name).rows, results.table(name).rows
            self.assertEqual(len(found), len(expected), name)
            for row, (found_row, expected_row) in enumerate(zip(found, expected)):
                for cell, want in zip(found_row, expected_row):
                    want = float(want) if isinstance(want, int) else want
                    self.assert_equal_cells(cell, want, f"{name}, row {row}")

    def assert_golden(self, path):
        """That every cell of every table is the same; returns the results."""
        results = distbench.read_results(path)
        for name in TABLES:
            self.assert_table_is_that_of_csv(results.table(name), path)
        json_path = self.write("report.json", self.report(path, "--format=json"))
        report = distbench.read_report(json_path)
        self.assert_same_tables(results, report)
        self.assertEqual(report.curves(), results.curves())
        for name in ("time_parts", "cpus", "connections", "activities"):
            text = self.report(path, "--format=csv", f"--table={name}")
            header, *rows = csv.reader(io.StringIO(text))
            self.assertEqual(report.table(name).column_names, header)
            self.assertEqual(len(report.table(name).rows), len(rows))
        return results
