# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Figures of servers in comparisons and histories, as users see them."""

import csv
import io
import json
import os

from tests import programs
from tests import testing_main

import watched_runs


def side(shares, **more):
    """Runs in which the metric was about these shares."""
    return "".join(
        watched_runs.steady(share, day=day, **more)
        for day, share in enumerate(shares)
    )


class ComparisonTest(programs.ProgramTest):
    def compare(self, base, new, *flags, status=0):
        outcome = self.distbench(
            "compare",
            self.write("base.pb", base),
            self.write("new.pb", new),
            *flags,
        )
        self.assertEqual(outcome.status, status, outcome)
        return outcome.out

    def metric(self, base, new, *flags):
        text = self.compare(base, new, "--format=json", *flags)
        (metric,) = json.loads(text)["tests"][0]["metrics"]
        return metric

    def test_a_difference_is_no_regression_unless_asked_for(self):
        base, new = side([0.30, 0.31]), side([0.60, 0.61])
        text = self.compare(base, new)
        self.assertRegex(text, r"metric:cpu +30\.5 % +60\.5 % .*differs\n")
        self.assertTrue(text.startswith("Result: differs."), text)
        self.assertRegex(
            self.compare(base, new, "--fail_if=p99>5%"), r"(?m)^ *pass "
        )
        text = self.compare(base, new, "--fail_if=metric:cpu>5%", status=2)
        self.assertRegex(text, r"FAIL .*metric:cpu>5%.*percentage points")
        self.compare(base, new, "--fail_if=metric:cpu<-5%")
        text = self.compare(base, new, "--fail_if=metric:gpu>5%", status=2)
        self.assertIn("no test measures metric:gpu", text)

    def test_the_value_is_that_of_other_reports(self):
        base = self.write("one.pb", side([0.30]))
        table = self.distbench(
            "report", base, "--format=csv", "--table=server_metrics"
        ).out
        (row,) = csv.DictReader(io.StringIO(table))
        metric = self.metric(side([0.30]), side([0.60]))
        (value,) = metric["base_values"]
        self.assertAlmostEqual(value, float(row["mean"]), places=12)
        self.assertEqual(metric["verdict"], "not shown")

    def test_what_is_not_compared_is_said(self):
        base = side([0.30, 0.31])
        for new, reason in (
            (side([0.30, 0.31], query="sum(gpu)"), "but the query"),
            (side([0.30, 0.31], unit="percent"), "(percent)"),
            (side([0.30], failed=9), "failed, too many for a mean"),
        ):
            metric = self.metric(base, new)
            self.assertEqual(metric["verdict"], "not comparable")
            self.assertIn(reason, metric["reason"])
        text = self.compare(base, side([0.30, 0.31], failed=1))
        self.assertIn(
            "1 of 19 readings of the metric cpu failed in run 1 of 2 of new, "
            "and some in 1 more",
            text,
        )
        self.assertIn("no difference shown", text)

    def test_a_history_finds_changes_of_a_metric(self):
        folder = self.path("results")
        os.mkdir(folder)
        for day in range(30):
            share = (0.3 if day < 15 else 0.4) + day % 3 / 100
            run = watched_runs.steady(share, day=day)
            self.write(f"results/{day}.pb", run)
        failed = watched_runs.steady(0.3, day=31, failed=9)
        self.write("results/failed.pb", failed)
        arguments = ("--test=watched", "--metric=metric:cpu")
        outcome = self.distbench("history", "trend", folder, *arguments)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(
            'watched, the query "sum(cpu)" (share), metric:cpu: 30 results, '
            "without 1 that failed, are invalid or were not measured\n",
            outcome.out,
        )
        self.assertRegex(outcome.out, r"level 31\.000 % to 41\.000 % \(\+32\.")
        outcome = self.distbench(
            "history", "trend", folder, *arguments, "--format=json"
        )
        (trend,) = json.loads(outcome.out)
        self.assertEqual(trend["series"]["better"], "neither")
        self.assertEqual(trend["series"]["unit"], "share")
        self.assertEqual([one["index"] for one in trend["changes"]], [15])
        self.assertLess(trend["points"][0]["low"], trend["points"][0]["high"])


if __name__ == "__main__":
    testing_main.main()
