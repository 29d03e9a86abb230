"""Tests what distbench.report refuses; tests/python/golden_test.py reads reports
of the program."""

import json
import os
import tempfile
import unittest

import distbench
from tests import testing_main

EMPTY = {
    "schema": "distbench report",
    "schema_version": 1,
    "tests": [],
    "searches": [],
}


class ReportTest(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile(
            "w", dir=os.environ.get("TEST_TMPDIR"), suffix=".json"
        ) as file:
            file.write(text)
            file.flush()
            return distbench.read_report(file.name)

    def test_other_files_are_refused(self):
        for text, problem in (
            ("", "Expecting value"),
            ("[]", "not a report of distbench"),
            ('{"schema": "other"}', "not a report of distbench"),
            (json.dumps({**EMPTY, "schema_version": 2}), "schema_version 2"),
            (json.dumps({**EMPTY, "tests": None}), "no list of tests"),
        ):
            with self.assertRaises(distbench.ResultError) as raised:
                self.read(text)
            self.assertIn(".json: ", str(raised.exception))
            self.assertIn(problem, str(raised.exception))
            self.assertIn("--format=json", str(raised.exception))

    def test_tables_that_reports_do_not_have_are_named(self):
        report = self.read(json.dumps(EMPTY))
        for name in ("samples", "rpc"):
            with self.assertRaisesRegex(ValueError, f'no table "{name}".*cpus'):
                report.table(name)

    def test_a_damaged_report_is_refused(self):
        report = self.read(json.dumps({**EMPTY, "tests": [{"rpcs": [{}]}]}))
        for read in (lambda: report.table("rpcs"), report.curves):
            with self.assertRaisesRegex(distbench.ResultError, "damaged.*write it"):
                read()
        with self.assertRaisesRegex(distbench.ResultError, "no report is given"):
            distbench.read_report()

    def test_an_empty_report_has_empty_tables(self):
        report = self.read(json.dumps(EMPTY))
        for name in ("runs", "rpcs", "probes", "cpus"):
            self.assertEqual(report.table(name).rows, [])


if __name__ == "__main__":
    testing_main.main()
