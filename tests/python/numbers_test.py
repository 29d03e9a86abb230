# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that programs which guess types read the exports' numbers as numbers,
without a cast: pandas, DuckDB where it is installed, and jq."""

import json
import os
import shutil
import subprocess
import unittest

import pandas

try:
    import duckdb
except ImportError:
    duckdb = None

from distbench._proto import results_pb2
from tests import programs
from tests import testing_main

MAKE_RESULT = os.path.abspath("distbench/report/testing/make_example_result")

TEXTS = {
    "source",
    "test",
    "rpc",
    "latency",
    "method",
    "client",
    "server",
    "node",
    "instance",
    "local_address",
    "peer_address",
    "congestion_control",
}
TABLES = ("rpcs", "percentiles", "peers", "seconds", "resources", "cpus", "connections")


class NumbersTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.result = self.path("result.pb")
        outcome = self.run_to_end(
            MAKE_RESULT, self.result, "test", "1", "2", "2", "20", "50"
        )
        self.assertEqual(outcome.status, 0, outcome)

    def let_some_fail(self):
        """So many that p95 is among the failures."""
        message = results_pb2.TestSequenceResults()
        with open(self.result, "rb") as file:
            message.ParseFromString(file.read())
        for instance in message.test_results[0].service_logs.instance_logs.values():
            for peer in instance.peer_logs.values():
                for log in peer.rpc_logs.values():
                    log.statistics.failed_count = log.statistics.succeeded_count // 9
            for series in instance.rpc_time_series.values():
                for interval in series.intervals:
                    interval.failed_count = interval.succeeded_count // 9
        with open(self.result, "wb") as file:
            file.write(message.SerializeToString())

    def report(self, *flags):
        outcome = self.distbench("report", self.result, *flags)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome.out

    def csv_files(self):
        for table in TABLES:
            text = self.report("--format=csv", f"--table={table}")
            yield table, self.write(f"{table}.csv", text)

    def assert_pandas_reads_numbers(self):
        for table, path in self.csv_files():
            frame = pandas.read_csv(path)
            self.assertGreater(len(frame), 0, table)
            for column in set(frame.columns) - TEXTS:
                self.assertTrue(
                    pandas.api.types.is_numeric_dtype(frame[column]),
                    f"{table}.{column}: {frame[column].dtype}",
                )
        test = json.loads(self.report("--format=json"))["tests"][0]
        for table in set(TABLES) - {"rpcs", "percentiles"}:
            part = test[table]
            frame = pandas.DataFrame(part["rows"], columns=part["columns"])
            for column in set(frame.columns) - TEXTS:
                present = frame[column].dropna().infer_objects()
                self.assertTrue(
                    len(present) == 0 or pandas.api.types.is_numeric_dtype(present),
                    f"{table}.{column} of JSON: {frame[column].dtype}",
                )

    def assert_duckdb_reads_numbers(self):
        for table, path in self.csv_files():
            found = duckdb.sql(f"describe from read_csv('{path}')").fetchall()
            values = duckdb.sql(f"from read_csv('{path}')").df()
            for column, kind, *_ in found:
                # Without any value there is nothing to guess from.
                if column in TEXTS or values[column].isna().all():
                    continue
                self.assertIn(kind, ("BIGINT", "DOUBLE"), f"{table}.{column}")

    def assert_jq_reads_numbers(self):
        path = self.write("report.json", self.report("--format=json"))
        query = """
            [.tests[].rpcs[] | .service_time, .response_time | .percentiles[]
             | .value_ns, .lower_ns, .upper_ns | type] | unique | .[]
        """
        found = subprocess.run(
            ["jq", "-r", query, path], check=True, capture_output=True, text=True
        ).stdout.split()
        self.assertIn("number", found)
        self.assertLessEqual(set(found), {"null", "number"})

    def test_pandas(self):
        self.assert_pandas_reads_numbers()

    @unittest.skipUnless(duckdb, "DuckDB is not installed")
    def test_duckdb(self):
        self.assert_duckdb_reads_numbers()

    @unittest.skipUnless(shutil.which("jq"), "jq is not installed")
    def test_jq(self):
        self.assert_jq_reads_numbers()

    def test_pandas_where_percentiles_failed(self):
        self.let_some_fail()
        self.assert_pandas_reads_numbers()

    @unittest.skipUnless(duckdb, "DuckDB is not installed")
    def test_duckdb_where_percentiles_failed(self):
        self.let_some_fail()
        self.assert_duckdb_reads_numbers()

    @unittest.skipUnless(shutil.which("jq"), "jq is not installed")
    def test_jq_where_percentiles_failed(self):
        self.let_some_fail()
        self.assert_jq_reads_numbers()


if __name__ == "__main__":
    testing_main.main()
