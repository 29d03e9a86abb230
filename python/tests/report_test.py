# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests what is read of reports, also of those of other versions;
tests/python/golden_test.py reads those of the program."""

import json
import math
import os
import tempfile
import unittest

import distbench
from distbench.runs import with_failures
from python.tests.example import report_of, report_of_test
from tests import testing_main


class ReportTest(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile(
            "w", dir=os.environ.get("TEST_TMPDIR"), suffix=".json"
        ) as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
            file.flush()
            return distbench.read_report(file.name)

    def test_other_files_are_refused(self):
        for text, problem in (
            ("", "Expecting value"),
            ("[]", "not a report of distbench"),
            ('{"schema": "other"}', "not a report of distbench"),
            (report_of(tests=None), "no list of tests"),
        ):
            with self.assertRaises(distbench.ResultError) as raised:
                self.read(text)
            self.assertIn(".json: ", str(raised.exception))
            self.assertIn(problem, str(raised.exception))
            self.assertIn("--format=json", str(raised.exception))
        with self.assertRaisesRegex(distbench.ResultError, "no report is given"):
            distbench.read_report()

    def test_a_report_of_another_schema_says_which_versions_do_not_fit(self):
        with self.assertRaisesRegex(
            distbench.ResultError,
            "schema_version 99.*distbench 1.2.3 wrote it, and this package is version",
        ):
            self.read(report_of(schema_version=99))

    def test_what_a_report_lacks_is_named_with_the_versions(self):
        with self.assertRaisesRegex(
            distbench.ResultError, "lacks .*'offered_load'.*distbench 1.2.3 wrote it"
        ):
            self.read(report_of(report_of_test(rpcs=[{}])))
        report = self.read(report_of(report_of_test()))
        with self.assertRaisesRegex(distbench.ResultError, "lacks .*'totals'"):
            report.table("runs")

    def test_results_themselves_are_needed_for_what_reports_do_not_have(self):
        report = self.read(report_of(report_of_test()))
        for use in (
            lambda: report.runs[0].result,
            lambda: report.table("samples"),
            lambda: report.write("x.pb"),
        ):
            with self.assertRaisesRegex(distbench.ResultError, r"read_results\(\)"):
                use()

    def test_an_empty_report_has_empty_tables(self):
        report = self.read(report_of())
        for name in ("runs", "rpcs", "probes", "cpus"):
            self.assertEqual(report.table(name).rows, [])

    def test_tables_of_several_versions_have_the_columns_of_all(self):
        def test_with(*columns):
            rows = [list(range(len(columns)))]
            return report_of_test(cpus={"columns": columns, "rows": rows})

        tests = [test_with("cpu"), report_of_test(), test_with("idle_ns", "cpu")]
        table = self.read(report_of(*tests)).table("cpus")
        self.assertEqual(list(table.column_names)[3:], ["cpu", "idle_ns", "simulated"])
        self.assertEqual([row[3:5] for row in table.rows], [(0, None), (1, 0)])


class FailuresTest(unittest.TestCase):
    def assert_failed(self, figures, *names):
        found = with_failures(figures)
        failed = [name for name, value in found.items() if value == math.inf]
        self.assertEqual(failed, list(names))
        self.assertEqual(list(found), list(figures))

    def test_percentiles_say_whether_they_or_their_bounds_failed(self):
        percentile = {"percentile": 99.0, "value_ns": 7, "lower_ns": 5}
        self.assert_failed({**percentile, "upper_ns": None})
        self.assert_failed(
            {**percentile, "upper_ns": None, "failed": False, "upper_failed": True},
            "upper_ns",
        )
        self.assert_failed(
            {"value_ns": None, "lower_ns": 5, "failed": True, "lower_failed": False},
            "value_ns",
        )

    def test_rows_say_from_which_percentile_on_they_failed(self):
        row = {"service_p50_ns": 5, "service_p99_ns": None, "service_max_ns": 9}
        self.assert_failed({**row, "failed_above_percent": None})
        self.assert_failed({**row, "failed_above_percent": 97.5}, "service_p99_ns")
        self.assert_failed(
            {**row, "service_failed_above_percent": 99}, "service_p99_ns"
        )
        # There are too few requests for it.
        self.assert_failed({**row, "failed_above_percent": 99.5})
        latency = {"p99_ns": 9, "p999_ns": None, "p99.99_ns": None}
        self.assert_failed({**latency, "failed_above_percent": 99.95}, "p99.99_ns")
        self.assert_failed(
            {"service_p50_ns": None, "failed_above_percent": 0}, "service_p50_ns"
        )

    def test_only_times_of_whole_requests_fail(self):
        row = {
            "service_p99_ns": None,
            "response_p99_ns": None,
            "response_max_ns": 9,
            "network_p99_ns": None,
            "failed_above_percent": 90,
        }
        self.assert_failed(row, "service_p99_ns", "response_p99_ns")
        # A closed loop has no response times.
        self.assert_failed({**row, "response_max_ns": None}, "service_p99_ns")


if __name__ == "__main__":
    testing_main.main()
