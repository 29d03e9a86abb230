# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests distbench.results and distbench.runs: tables, RPCs, choosing tests."""

import math
import os
import tempfile
import unittest

import distbench
from distbench._proto import results_pb2
from python.tests.example import START_NS, message_of, read, results_of, test_result
from tests import testing_main

OWN_TABLES = (
    "runs",
    "findings",
    "rpcs",
    "percentiles",
    "samples",
    "searches",
    "probes",
)


class TablesTest(unittest.TestCase):
    def test_every_row_has_a_cell_per_column(self):
        results = results_of(test_result(failed=3))
        for name in (*OWN_TABLES, "peers", "cpus"):
            table = results.table(name)
            for row in table.rows:
                self.assertEqual(len(row), len(table.column_names), name)

    def test_simulated_runs_are_marked(self):
        simulated = test_result()
        simulated.simulation.host_count = 2
        both = results_of(test_result(), simulated)
        for name in ("runs", "rpcs", "samples", "peers"):
            frame = both.frame(name)
            self.assertEqual(frame.columns[-1], "simulated")
            self.assertEqual(set(frame["simulated"]), {False, True}, name)
        self.assertEqual([run.simulated for run in both.runs], [False, True])
        self.assertIn("simulated=True", repr(both.runs[1]))
        self.assertIn(" (simulated)", both.curves()[1].label)
        self.assertNotIn(" (simulated)", both.curves()[0].label)

    def test_searches_are_marked_by_themselves_not_by_the_runs_beside_them(self):
        simulated = test_result()
        simulated.simulation.host_count = 2
        message = message_of(simulated)
        message.searches.add()
        message.searches.add(simulated=True)
        frame = read(message).frame("searches")
        self.assertEqual(list(frame["simulated"]), [False, True])
        self.assertEqual(list(frame["search"]), [0, 1])

    def test_a_percentile_among_failures_is_infinite_in_frames(self):
        frame = results_of(test_result(values=range(1, 96), failed=5)).frame("rpcs")
        self.assertEqual(frame.loc[0, "service_p95_ns"], math.inf)
        self.assertEqual(frame.loc[0, "service_max_ns"], 95)
        self.assertTrue(math.isnan(frame.loc[0, "service_p99.9_ns"]))
        self.assertTrue(math.isnan(frame.loc[0, "response_p50_ns"]))

    def test_timestamps_are_exact(self):
        result = test_result()
        frame = results_of(result).frame("runs")
        self.assertEqual(frame.loc[0, "start_timestamp_ns"], START_NS)
        self.assertEqual(frame["start_timestamp_ns"].dtype.name, "int64")
        # It is a text because 64 bits without a sign are too long for pandas.
        self.assertEqual(frame.loc[0, "random_seed"], str(2**63))
        result.run_info.ClearField("start_timestamp_ns")
        frame = results_of(test_result(), result).frame("runs")
        self.assertEqual(frame["start_timestamp_ns"].dtype.name, "Int64")
        self.assertEqual(frame.loc[0, "start_timestamp_ns"], START_NS)

    def test_types_of_columns_do_not_depend_on_what_is_absent(self):
        frames = [
            results.frame("rpcs")
            for results in (results_of(test_result()), distbench.Results())
        ]
        for name, kind in (
            ("rpc", "object"),
            ("service_p99_ns", "float64"),
            ("response_p99_ns", "float64"),
            ("duration_s", "float64"),
        ):
            for frame in frames:
                self.assertEqual(frame[name].dtype.name, kind, name)

    def test_samples_are_those_of_the_result(self):
        result = test_result(values=[10, 20], failed=1)
        log = result.service_logs.instance_logs["client/0"].peer_logs["server/0"]
        log.rpc_logs[0].successful_rpc_samples[0].lateness_ns = 5
        frame = results_of(result).frame("samples")
        self.assertEqual(list(frame["service_time_ns"]), [10, 20, 0])
        self.assertEqual(frame.loc[0, "lateness_ns"], 5)
        self.assertTrue(math.isnan(frame.loc[1, "lateness_ns"]))
        self.assertEqual(list(frame["error"]), [None, None, "deadline"])
        self.assertEqual(set(frame["rpc"]), {"query"})

    def test_empty_tables_have_their_columns(self):
        frame = distbench.Results().frame("rpcs")
        self.assertEqual(len(frame), 0)
        self.assertIn("service_p99.9_ns", frame.columns)
        self.assertEqual(distbench.Results().table("cpus").rows, [])

    def test_unknown_tables_are_named_with_those_there_are(self):
        with self.assertRaisesRegex(ValueError, 'no table "rpc".* rpcs, .* cpus'):
            results_of(test_result()).table("rpc")


class RunTest(unittest.TestCase):
    def test_findings_and_verdict_are_those_of_the_program(self):
        result = test_result()
        for severity, code in ((1, "note"), (3, "invalid"), (2, "warn")):
            result.run_info.findings.add(severity=severity, code=code)
        run = results_of(result).runs[0]
        codes = [finding.code for finding in run.findings]
        self.assertEqual(codes, ["invalid", "warn", "note"])
        self.assertEqual((run.verdict, run.failure), ("invalid", None))
        result.run_info.failure = "lost"
        run = results_of(result).runs[0]
        self.assertEqual((run.verdict, run.failure), ("failed", "lost"))

    def test_an_rpc_has_its_figures(self):
        rpc = (
            results_of(test_result(values=range(1, 101), failed=25))
            .runs[0]
            .rpc("query")
        )
        self.assertEqual((rpc.succeeded, rpc.failed, rpc.per_second), (100, 25, 50))
        self.assertEqual(rpc.failures, {"deadline": 25})
        self.assertIsNone(rpc.offered)
        latency = rpc.latency
        self.assertEqual((latency.count, latency.failed_count), (125, 25))
        self.assertEqual((latency.min_ns, latency.mean_ns), (1, 50.5))
        self.assertEqual(latency.max_ns, 100)
        self.assertEqual(latency.curve()[-1], (100, 100))
        self.assertEqual(rpc.response_time.count, 0)
        self.assertIsNone(rpc.response_time.mean_ns)

    def test_percentiles_have_intervals_as_far_as_there_are_requests(self):
        latency = results_of(test_result(values=range(1, 91), failed=10)).runs[0]
        latency = latency.rpc("query").latency
        p75 = latency.percentile(75)
        self.assertEqual((p75.percent, p75.value_ns), (75, 76))
        self.assertLess(p75.lower_ns, 76)
        self.assertGreater(p75.upper_ns, 76)
        self.assertEqual(latency.percentile_ns(90), distbench.FAILED)
        # p99 takes 100 requests, p99.9 takes 1000.
        self.assertEqual(latency.percentile_ns(99), distbench.FAILED)
        self.assertIsNone(latency.percentile(99.9))
        self.assertIsNone(latency.percentile_ns(99.9))
        self.assertEqual([p.percent for p in latency.percentiles()][-1], 99)

    def test_percentiles_that_reports_do_not_have_are_refused(self):
        latency = results_of(test_result()).runs[0].rpc("query").latency
        with self.assertRaisesRegex(ValueError, "no percentile 92.5; they have 50"):
            latency.percentile(92.5)

    def test_an_unknown_rpc_is_named_with_those_there_are(self):
        with self.assertRaisesRegex(KeyError, "no RPC 'ask'; it has query"):
            results_of(test_result()).runs[0].rpc("ask")
        with self.assertRaisesRegex(KeyError, "there are example"):
            results_of(test_result()).only("other")

    def test_errors_about_names_are_of_this_package(self):
        results = results_of(test_result())
        for ask in (
            lambda: results.runs[0].rpc("ask"),
            lambda: results.only("other"),
            lambda: results.table("rpc"),
        ):
            with self.assertRaisesRegex(distbench.DistbenchError, "^there is|^example"):
                ask()

    def test_the_message_is_that_of_the_run(self):
        first, second = test_result("a"), test_result("b", values=[1, 2, 3])
        results = results_of(first, second)
        self.assertEqual(results.runs[1].result, second)
        both = results + results_of(first)
        self.assertEqual([run.result for run in both.runs], [first, second, first])


class OnlyTest(unittest.TestCase):
    def test_tests_are_chosen_by_name_with_their_messages(self):
        a, b = test_result("a"), test_result("b", values=[1, 2])
        message = message_of(a, b, test_result("a", values=[3]))
        message.searches.add()
        chosen = read(message).only("b")
        self.assertEqual([run.test for run in chosen.runs], ["b"])
        self.assertEqual(chosen.runs[0].result, b)
        self.assertEqual(len(chosen.table("samples").rows), 2)
        self.assertEqual(chosen.table("searches").rows, [])
        self.assertEqual(len(chosen.documents[0]["tests"]), 1)
        self.assertEqual(len(read(message).only("a", "b").runs), 3)


class WriteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "both.pb.gz")

    def written(self, results):
        results.write(self.path)
        return distbench.read_results(self.path).runs

    def test_results_of_several_files_become_one(self):
        both = results_of(test_result()) + results_of(test_result(repetition=1))
        self.assertEqual([run.repetition for run in self.written(both)], [0, 1])

    def test_chosen_tests_are_written_alone(self):
        chosen = results_of(test_result("a"), test_result("b")).only("b")
        self.assertEqual([run.test for run in self.written(chosen)], ["b"])

    def test_two_numa_comparisons_are_not_mixed(self):
        message = results_pb2.TestSequenceResults(test_results=[test_result()])
        message.numa_comparison.omissions.append("none")
        with self.assertRaisesRegex(ValueError, "only one"):
            (read(message) + read(message)).write(self.path)


class SearchTest(unittest.TestCase):
    def test_searches_and_probes_have_rows(self):
        message = message_of()
        report = message.searches.add(verdict="found", load=350.5, load_unit="qps")
        report.search.objectives.append("query p99<=5ms")
        probe = report.probes.add(number=1, requested_load=300, outcome="met")
        probe.statistics.succeeded_count = 100
        probe.statistics.failed_count = 1
        probe.statistics.first_start_timestamp_ns = START_NS
        probe.statistics.last_end_timestamp_ns = START_NS + 2 * 10**9
        # 100 times 50 ns, each in a bucket of its own.
        times = probe.statistics.service_time_ns
        times.sub_bucket_bits = 7
        times.bucket_index_deltas.append(50)
        times.bucket_counts.append(100)
        times.min = times.max = 50
        times.sum, times.sum_of_squares = 5000, 250000
        results = read(message)
        search = results.frame("searches").loc[0]
        self.assertEqual(search["objectives"], "query p99<=5ms")
        self.assertEqual(search["load"], 350.5)
        row = results.frame("probes").loc[0]
        self.assertEqual(row["per_second"], 50)
        self.assertEqual(row["p50_ns"], 50)
        self.assertEqual(row["p999_ns"], math.inf)


if __name__ == "__main__":
    testing_main.main()
