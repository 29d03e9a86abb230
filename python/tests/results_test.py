"""Tests distbench.results and distbench.runs: tables, verdicts, adding up."""

import math
import unittest

import distbench
import distbench.tables
from distbench._proto import results_pb2
from python.tests.example import START_NS, message_of, results_of, test_result
from tests import testing_main


class TablesTest(unittest.TestCase):
    def test_every_row_has_a_cell_per_column(self):
        results = results_of(test_result(failed=3))
        for name in distbench.tables.COLUMNS:
            table = results.table(name)
            for row in table.rows:
                self.assertEqual(len(row), len(table.columns), name)

    def test_simulated_runs_are_marked_and_not_added_to_real_ones(self):
        simulated = test_result()
        simulated.simulation.host_count = 2
        both = results_of(test_result(), simulated)
        for name in ("runs", "rpcs", "seconds"):
            frame = both.frame(name)
            self.assertEqual(frame.columns[-1], "simulated")
            self.assertEqual(set(frame["simulated"]), {False, True}, name)
        self.assertEqual([run.simulated for run in both.runs], [False, True])
        self.assertIn("simulated=True", repr(both.runs[1]))
        self.assertIn(" (simulated)", both.curves()[1].label)
        self.assertNotIn(" (simulated)", both.curves()[0].label)
        with self.assertRaisesRegex(ValueError, "real and simulated"):
            both.added_up()
        self.assertEqual(len(results_of(simulated, simulated).added_up()), 1)

    def test_searches_are_marked_by_themselves_not_by_the_runs_beside_them(self):
        simulated = test_result()
        simulated.simulation.host_count = 2
        message = message_of(simulated)
        message.searches.add()
        message.searches.add(simulated=True)
        frame = distbench.Results([("a.pb", message)]).frame("searches")
        self.assertEqual(list(frame["simulated"]), [False, True])

    def test_a_percentile_among_failures_is_infinite_in_frames(self):
        results = results_of(test_result(values=range(1, 96), failed=5))
        frame = results.frame("rpcs")
        self.assertEqual(frame.loc[0, "service_p95_ns"], math.inf)
        self.assertEqual(frame.loc[0, "service_max_ns"], 95)
        self.assertTrue(math.isnan(frame.loc[0, "service_p99.9_ns"]))
        self.assertTrue(math.isnan(frame.loc[0, "response_p50_ns"]))

    def test_an_rpc_that_a_full_queue_kept_back_failed_once(self):
        result = test_result(values=range(1, 91), failed=9)
        log = result.service_logs.instance_logs["client/0"]
        statistics = log.peer_logs["server/0"].rpc_logs[0].statistics
        statistics.response_time_ns.CopyFrom(statistics.service_time_ns)
        # Of the 9, 5 were never sent; a cap held back one more.
        log.offered_loads[0].offered_count = 100
        log.offered_loads[0].unsent_count = 6
        outcomes = results_of(result).runs[0].rpc("query").response_time.outcomes
        self.assertEqual(outcomes.count, 100)
        self.assertEqual(outcomes.failed_count, 10)

    def test_timestamps_are_exact(self):
        frame = results_of(test_result()).frame("runs")
        self.assertEqual(frame.loc[0, "start_timestamp_ns"], START_NS)
        self.assertEqual(frame["start_timestamp_ns"].dtype.name, "Int64")
        seconds = results_of(test_result()).frame("seconds")
        self.assertEqual(seconds["start_timestamp_ns"].dtype.name, "int64")
        # It is a text because 64 bits without a sign are too long for pandas.
        self.assertEqual(frame.loc[0, "random_seed"], str(2**63))

    def test_sums_of_more_than_64_bits_stay_in_their_column(self):
        result = test_result()
        logs = result.service_logs.instance_logs
        logs["client/1"].CopyFrom(logs["client/0"])
        for log in logs.values():
            statistics = log.peer_logs["server/0"].rpc_logs[0].statistics
            statistics.request_bytes = 2**63 - 1
        frame = results_of(result).frame("rpcs")
        self.assertEqual(frame.loc[0, "request_bytes"], 2**63 - 1)
        self.assertEqual(frame.loc[0, "succeeded"], 2000)

    def test_empty_tables_have_their_columns(self):
        frame = distbench.Results().frame("rpcs")
        self.assertEqual(len(frame), 0)
        self.assertIn("service_p99.9_ns", frame.columns)

    def test_unknown_tables_are_named_with_those_there_are(self):
        with self.assertRaisesRegex(ValueError, "no table .*rpcs, percentiles"):
            results_of().table("rpc")
        with self.assertRaisesRegex(ValueError, "only in reports"):
            results_of().table("cpus")


class RunTest(unittest.TestCase):
    def test_the_verdict_is_the_worst_that_applies(self):
        def verdict(*severities, failure=None):
            result = test_result()
            for severity in severities:
                result.run_info.findings.add(severity=severity, code="c")
            if failure:
                result.run_info.failure = failure
            return results_of(result).runs[0].verdict

        finding = results_pb2.Finding
        self.assertEqual(verdict(), "ok")
        self.assertEqual(verdict(finding.NOTE), "ok")
        self.assertEqual(verdict(finding.NOTE, finding.WARN), "warn")
        self.assertEqual(verdict(finding.WARN, finding.INVALID), "invalid")
        self.assertEqual(verdict(finding.INVALID, failure="lost"), "failed")

    def test_findings_begin_with_the_worst(self):
        result = test_result()
        for severity, code in ((1, "note"), (3, "invalid"), (2, "warn")):
            result.run_info.findings.add(severity=severity, code=code)
        codes = [finding.code for finding in results_of(result).runs[0].findings]
        self.assertEqual(codes, ["invalid", "warn", "note"])

    def test_damaged_pooled_statistics_make_a_run_invalid(self):
        result = test_result()
        log = result.service_logs.instance_logs["client/0"]
        log.pooled_statistics[0].failed_count = -1
        run = results_of(result).runs[0]
        self.assertEqual(run.verdict, "invalid")
        self.assertEqual(run.findings[0].code, "damaged_logs")
        self.assertEqual(run.rpc("query").succeeded, 1000)

    def test_pooled_statistics_count(self):
        result = test_result(values=[10, 20])
        log = result.service_logs.instance_logs["client/0"]
        other = test_result(values=[30]).service_logs.instance_logs["client/0"]
        log.pooled_statistics[0].CopyFrom(
            other.peer_logs["server/0"].rpc_logs[0].statistics
        )
        rpc = results_of(result).runs[0].rpc("query")
        self.assertEqual(rpc.succeeded, 3)
        self.assertEqual(rpc.latency.outcomes.latency_ns.max, 30)

    def test_causes_of_failures_are_named(self):
        result = test_result(failed=5)
        instance = result.service_logs.instance_logs["client/0"]
        statistics = instance.peer_logs["server/0"].rpc_logs[0].statistics
        statistics.failures_by_error[1] = 3
        statistics.failures_by_error[7] = 1
        rpc = results_of(result).runs[0].rpc("query")
        self.assertEqual(
            rpc.failures,
            {
                "cause not recorded": 1,
                "deadline": 3,
                "error 7, which is missing from the error dictionary": 1,
            },
        )

    def test_an_unknown_rpc_is_named_with_those_there_are(self):
        with self.assertRaisesRegex(KeyError, "no RPC 'ask'; it has query"):
            results_of(test_result()).runs[0].rpc("ask")
        with self.assertRaisesRegex(KeyError, "there are example"):
            results_of(test_result()).only("other")

    def test_tests_are_chosen_by_name(self):
        results = results_of(test_result("a"), test_result("b"), test_result("a"))
        self.assertEqual([run.test for run in results.only("a").runs], ["a", "a"])
        self.assertEqual(results.only("b").runs[0].source, "a.pb")


class SeriesTest(unittest.TestCase):
    def test_series_of_different_widths_are_added_in_the_wider_one(self):
        result = test_result(values=range(100))
        second = result.service_logs.instance_logs["client/1"].rpc_time_series[0]
        second.interval_ns = 2 * 10**9
        second.intervals.add(index=START_NS // (2 * 10**9), succeeded_count=7)
        # Neither width is a multiple of the other.
        third = result.service_logs.instance_logs["client/2"].rpc_time_series[0]
        third.interval_ns = 3 * 10**8
        series = results_of(result).runs[0].rpc("query").series[0]
        self.assertEqual(series.interval_ns, 2 * 10**9)
        self.assertEqual([i.succeeded for i in series.intervals.values()], [107])
        self.assertEqual(series.left_out_count, 1)


class AddUpTest(unittest.TestCase):
    def test_repetitions_add_up_exactly(self):
        results = results_of(
            test_result(values=range(500), failed=1),
            test_result(values=range(500, 1000), failed=2, repetition=1),
        )
        total = results.added_up()["example"]["query"]
        together = results_of(test_result(values=range(1000), failed=3))
        expected = together.runs[0].rpc("query")
        self.assertEqual(total.succeeded, 1000)
        self.assertEqual(total.failures, {"deadline": 3})
        self.assertEqual(
            total.latency.outcomes.latency_ns.to_proto(),
            expected.latency.outcomes.latency_ns.to_proto(),
        )
        self.assertEqual(
            total.latency.percentile_ns(90), expected.latency.percentile_ns(90)
        )
        self.assertEqual(total.duration_ns, 4 * 10**9)
        self.assertEqual(total.per_second, 250)

    def test_different_rpcs_are_not_added(self):
        with self.assertRaisesRegex(ValueError, r"not of \['a', 'b'\]"):
            distbench.add_up(
                [distbench.RpcMeasurements("a"), distbench.RpcMeasurements("b")]
            )
        with self.assertRaises(ValueError):
            distbench.add_up([])


class SearchTest(unittest.TestCase):
    def test_searches_and_probes_have_rows(self):
        message = message_of()
        report = message.searches.add(verdict="found", load=350.5, load_unit="qps")
        report.search.objectives.append("query p99<=5ms")
        probe = report.probes.add(number=1, requested_load=300, outcome="met")
        example = test_result(values=range(100), failed=1)
        log = example.service_logs.instance_logs["client/0"]
        probe.statistics.CopyFrom(log.peer_logs["server/0"].rpc_logs[0].statistics)
        results = distbench.Results([("a.pb", message)])
        search = results.frame("searches").loc[0]
        self.assertEqual(search["objectives"], "query p99<=5ms")
        self.assertEqual(search["load"], 350.5)
        row = results.frame("probes").loc[0]
        self.assertEqual(row["per_second"], 50)
        self.assertEqual(row["p50_ns"], 50)
        self.assertEqual(row["p999_ns"], math.inf)


if __name__ == "__main__":
    testing_main.main()
