# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests distbench.comparison: what is shown of what distbench compare says."""

import math
import unittest

import distbench
from python.tests.example import report_of, report_of_test, results_of, test_result
from tests import testing_main


def runs(*means, **options):
    """Results of runs with service times around these means."""
    return results_of(
        *(
            test_result(values=[mean + i for i in range(1000)], **options)
            for mean in means
        )
    )


def rows_of(table):
    names = table.column_names
    return [dict(zip(names, row)) for row in table.rows]


class CompareTest(unittest.TestCase):
    def test_metrics_have_verdicts_and_intervals(self):
        base, new = runs(10000, 10100, 9900), runs(20000, 20200, 19900)
        rows = {row["metric"]: row for row in rows_of(distbench.compare(base, new))}
        self.assertEqual(rows["p50"]["verdict"], "worse")
        self.assertEqual(rows["failures"]["verdict"], "no difference")
        self.assertEqual((rows["p50"]["base_runs"], rows["p50"]["new_runs"]), (3, 3))
        self.assertLess(rows["p50"]["lower"], rows["p50"]["change"])
        self.assertLess(rows["p50"]["change"], rows["p50"]["upper"])
        self.assertEqual(rows["p50"]["latency"], "service time")

    def test_metrics_are_chosen_and_unknown_ones_refused(self):
        table = distbench.compare(runs(1000), runs(2000), metrics=["mean", "p50"])
        self.assertEqual({row["metric"] for row in rows_of(table)}, {"p50", "mean"})
        with self.assertRaisesRegex(ValueError, '"median" is not a metric.* p50, '):
            distbench.compare(runs(1000), runs(2000), metrics=["p50", "median"])

    def test_what_is_not_compared_has_a_reason(self):
        failed = test_result()
        failed.run_info.failure = "node0 was lost"
        other = test_result()
        other.traffic_config.payload_descriptions.add(name="large", size=100)
        good = results_of(test_result())
        for new, reason in (
            (results_of(failed), "node0 was lost"),
            (results_of(other), "the traffic differs"),
            (results_of(test_result(failed=900)), "of the RPCs failed"),
        ):
            row = rows_of(distbench.compare(good, new, metrics=["p99"]))[0]
            self.assertEqual(row["verdict"], "not comparable")
            self.assertIn(reason, row["reason"])
            self.assertIsNone(row["change"])
        table = distbench.compare(
            good, results_of(other), metrics=["p50"], allow_different_traffic=True
        )
        self.assertEqual(rows_of(table)[0]["verdict"], "not shown")

    def test_real_and_simulated_are_compared_and_it_is_said(self):
        simulated = test_result()
        simulated.simulation.host_count = 2
        real, made = results_of(test_result()), results_of(simulated)
        for base, new, which in (
            (real, real, None),
            (real, made, "new"),
            (made, real, "base"),
            (made, made, "both"),
        ):
            row = rows_of(distbench.compare(base, new, metrics=["p50"]))[0]
            self.assertEqual(row["simulated"], which)
            self.assertEqual(row["verdict"], "not shown")

    def test_what_is_read_of_servers_belongs_to_no_rpc(self):
        def watched(*values):
            results = []
            for i, value in enumerate(values):
                # Runs that are equal would be copies.
                result = test_result(values=range(1000 + i, 2000 + i))
                results.append(result)
                config = result.traffic_config
                config.services.add(name="client", count=1)
                config.server_metrics.add(name="errors", command="errors")
                node = result.resource_usage_logs.node_resources["node0"]
                log = node.server_metrics.add(name="errors", interval_ns=10**9)
                log.timestamps_ns.append(result.run_info.start_timestamp_ns + 10**9)
                log.values.append(value)
            return results_of(*results)

        table = distbench.compare(
            watched(0, 0), watched(2, 2), metrics=["metric:errors"]
        )
        (row,) = rows_of(table)
        self.assertIsNone(row["rpc"])
        self.assertEqual(row["verdict"], "differs")
        self.assertEqual((row["change"], row["change_is"]), (2, "difference"))

    def test_the_table_becomes_a_frame(self):
        frame = distbench.compare(runs(1000), runs(2000)).frame()
        self.assertEqual(frame["change"].dtype.name, "float64")
        self.assertTrue(math.isnan(frame.loc[0, "lower"]))

    def test_sides_without_results_are_refused(self):
        report = report_of(report_of_test())
        report = distbench.Results([distbench.results.Part(report)])
        with self.assertRaisesRegex(distbench.ResultError, r"read_results\(\)"):
            distbench.compare(report, runs(1000))
        with self.assertRaisesRegex(distbench.ResultError, "new has no runs"):
            distbench.compare(runs(1000), distbench.Results())


if __name__ == "__main__":
    testing_main.main()
