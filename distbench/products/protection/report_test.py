# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Reports of experiments, and what the Python package reads of their results."""

import csv
import io
import json
import os
import unittest

from tests import report_schema
from tests import testing_main
from tests.python import golden

MAKE_EXPERIMENT = os.path.abspath(
    "distbench/products/protection/measures/testing/make_example_experiment"
)


class ReportTest(golden.GoldenTest):
    def test_experiments_have_text_and_tables(self):
        result = self.path("experiment.pb.gz")
        outcome = self.run_to_end(MAKE_EXPERIMENT, result)
        self.assertEqual(outcome.status, 0, outcome)
        outcome = self.distbench("report", result)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("\nProtection: protected, RPC query", outcome.out)
        self.assertRegex(
            outcome.out,
            r"\nResult: isol=51\.00:0\.83% lat_imp=100\.0%:0 work_csv=\S+% "
            r"missing=0%\n",
        )
        for table, row_count in {"protection": 6, "protection_seconds": 540}.items():
            with self.subTest(table=table):
                outcome = self.distbench(
                    "report", result, "--format=csv", f"--table={table}"
                )
                self.assertEqual(outcome.status, 0, outcome)
                header, *rows = csv.reader(
                    io.StringIO(outcome.out), strict=True
                )
                self.assertEqual(
                    header[:4], ["source", "test", "controls", "antagonist"]
                )
                self.assertEqual(len(rows), row_count)
                for row in rows:
                    self.assertEqual(len(row), len(header))

    @unittest.skipUnless(report_schema.jsonschema, "needs python3-jsonschema")
    def test_documents_have_no_member_that_the_schema_lacks(self):
        document = json.loads(self.report(self.example(), "--format=json"))
        self.assertEqual(len(document["experiments"]), 1)
        self.assertEqual(report_schema.errors_of(document), [])

    def test_the_package_reads_an_experiment_with_many_runs(self):
        self.assertGreater(len(self.assert_golden(self.example()).runs), 1)

    def example(self):
        path = self.path("experiment.pb")
        outcome = self.run_to_end(MAKE_EXPERIMENT, path)
        self.assertEqual(outcome.status, 0, outcome)
        return path


if __name__ == "__main__":
    testing_main.main()
