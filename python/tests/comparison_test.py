"""Tests distbench.comparison. tests/python/golden_test.py compares its figures
with those of distbench compare."""

import math
import unittest

import distbench
from distbench.comparison import difference_of_means, ratio_of_means
from python.tests.example import results_of, test_result
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
    def verdicts(self, base, new, **options):
        rows = rows_of(distbench.compare(base, new, **options))
        return {row["metric"]: row["verdict"] for row in rows}

    def test_a_slower_test_is_worse(self):
        base, new = runs(10000, 10100, 9900), runs(20000, 20200, 19900)
        self.assertEqual(
            self.verdicts(base, new, metrics=["p50", "mean", "failures"]),
            {"p50": "worse", "mean": "worse", "failures": "no difference"},
        )
        self.assertEqual(self.verdicts(new, base, metrics=["p50"])["p50"], "better")

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
        row = rows_of(distbench.compare(real, real + made))[0]
        self.assertEqual(row["verdict"], "not comparable")
        self.assertIn("real and simulated", row["reason"])

    def test_copies_of_a_simulated_run_are_no_repeats(self):
        copy = test_result()
        copy.simulation.host_count = 2
        row = rows_of(distbench.compare(results_of(copy), results_of(copy, copy)))[0]
        self.assertEqual(row["verdict"], "not comparable")
        self.assertIn("new has simulated runs with the same seed", row["reason"])

    def test_a_single_run_shows_nothing(self):
        verdicts = self.verdicts(runs(10000), runs(20000), metrics=["p50"])
        self.assertEqual(verdicts, {"p50": "not shown"})

    def test_a_difference_within_a_bucket_is_none(self):
        base, new = runs(100000, 100000), runs(100500, 100500)
        self.assertEqual(
            self.verdicts(base, new, metrics=["p50", "mean"]),
            {"p50": "no difference", "mean": "worse"},
        )

    def test_tests_with_other_names_are_compared_if_there_is_one_of_each(self):
        table = distbench.compare(
            results_of(test_result("a")), results_of(test_result("b"))
        )
        self.assertEqual({row[0] for row in table.rows}, {"a and b"})

    def test_reasons_for_not_comparing(self):
        failed = test_result()
        failed.run_info.failure = "node0 was lost"
        other = test_result()
        other.traffic_config.payload_descriptions.add(name="large", size=100)
        decided = test_result()
        decided.traffic_config.attributes["until_decided"] = "8"
        good = results_of(test_result())
        for new, reason in (
            (results_of(failed), "run 1 of 1 of new is failed: node0 was lost"),
            (results_of(other), "the traffic differs"),
            (results_of(decided), "use distbench compare"),
            (results_of(), "it is in base only"),
            (results_of(test_result(failed=900)), "% of the RPCs failed"),
        ):
            row = rows_of(distbench.compare(good, new, metrics=["p99"]))[0]
            self.assertEqual(row["verdict"], "not comparable")
            self.assertIn(reason, row["reason"])
            self.assertIsNone(row["change"])
        self.assertEqual(
            self.verdicts(
                good,
                results_of(other),
                metrics=["p50"],
                allow_different_traffic=True,
            ),
            {"p50": "not shown"},
        )

    def test_names_and_drivers_are_not_traffic(self):
        other = test_result()
        other.traffic_config.random_seed = 5
        other.traffic_config.default_protocol = "tcp"
        other.traffic_config.services.add(protocol_driver_options_name="x")
        base = test_result()
        base.traffic_config.services.add()
        verdicts = self.verdicts(results_of(base), results_of(other), metrics=["p50"])
        self.assertEqual(verdicts, {"p50": "not shown"})

    def test_unknown_metrics_are_refused(self):
        for name in ("p0", "p100", "99", "pp9", "median", "p"):
            with self.assertRaisesRegex(ValueError, f'"{name}" is not a metric'):
                distbench.compare(runs(1), runs(1), metrics=[name])

    def test_the_table_becomes_a_frame(self):
        frame = distbench.compare(runs(1000), runs(2000)).frame()
        self.assertEqual(len(frame), len(distbench.comparison.DEFAULT_METRICS))
        self.assertTrue(math.isnan(frame.loc[0, "lower"]))


class WelchTest(unittest.TestCase):
    def test_the_interval_is_that_of_the_textbook(self):
        # Welch's t test of these groups: difference 2, standard error
        # sqrt(2.5/5 + 10/5), 5.88 degrees of freedom, t(0.975) = 2.4590.
        change = difference_of_means([1, 2, 3, 4, 5], [1, 3, 5, 7, 9])
        self.assertEqual(change.estimate, 2)
        half = (change.upper - change.lower) / 2
        self.assertAlmostEqual(half, 2.4590 * math.sqrt(2.5), places=3)

    def test_opposite_factors_cancel_out(self):
        change = ratio_of_means([1.0, 1.0], [2.0, 0.5])
        self.assertAlmostEqual(change.estimate, 1)
        self.assertLess(change.lower, 1)

    def test_equal_values_have_an_interval_without_width(self):
        self.assertEqual(difference_of_means([1, 1], [3, 3]), (2, 2, 2))


if __name__ == "__main__":
    testing_main.main()
