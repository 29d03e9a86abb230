"""Tests distbench.outcomes and the distributions that its intervals need."""

import math
import unittest
from fractions import Fraction

from distbench._distributions import binomial_quantile, student_t_quantile
from distbench.histogram import Histogram
from distbench.outcomes import FAILED, Latency, Outcomes, make_blocks
from tests import testing_main


def exact_binomial_quantile(trials, success, probability):
    """By exact arithmetic, from the definition."""
    total = Fraction(0)
    p = Fraction(success)
    for k in range(trials + 1):
        total += math.comb(trials, k) * p**k * (1 - p) ** (trials - k)
        if total >= Fraction(probability):
            return k
    raise AssertionError("the probabilities do not add up to 1")


def outcomes_of(values, failed=0):
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return Outcomes(histogram, failed)


class DistributionsTest(unittest.TestCase):
    def test_binomial_quantiles_are_exact(self):
        for trials in (0, 1, 2, 9, 40, 150):
            for success in (0.5, 0.9, 0.99, 0.999):
                for probability in (0.025, 0.3, 0.975):
                    self.assertEqual(
                        binomial_quantile(trials, success, probability),
                        exact_binomial_quantile(trials, success, probability),
                        (trials, success, probability),
                    )

    def test_binomial_quantiles_of_many_trials(self):
        # The median of a symmetrical distribution, and bounds by its normal
        # approximation, which is good to one part in the standard deviation.
        self.assertEqual(binomial_quantile(10**8, 0.5, 0.5), 5 * 10**7)
        for trials, success in ((10**6, 0.99), (10**8, 0.999)):
            deviation = math.sqrt(trials * success * (1 - success))
            found = binomial_quantile(trials, success, 0.975)
            expected = trials * success + 1.959964 * deviation
            self.assertLess(abs(found - expected), 2)

    def test_student_t_quantiles_are_those_of_tables(self):
        for degrees, expected in (
            (1, 12.706204736),
            (9, 2.262157163),
            (29, 2.045229642),
            (1e6, 1.959966356),
        ):
            found = student_t_quantile(0.975, degrees)
            self.assertAlmostEqual(found, expected, places=7)


class OutcomesTest(unittest.TestCase):
    def test_failures_rank_above_all_latencies(self):
        outcomes = outcomes_of(range(1, 99), failed=2)
        self.assertEqual(outcomes.count, 100)
        self.assertEqual(outcomes.value_at_quantile(0.5), 51)
        self.assertEqual(outcomes.value_at_quantile(0.97), 98)
        self.assertEqual(outcomes.value_at_quantile(0.98), FAILED)
        self.assertEqual(outcomes.value_at_quantile(1), FAILED)

    def test_a_percentile_needs_one_request_above_it(self):
        latency = Latency(outcomes_of(range(99)))
        self.assertIsNone(latency.percentile(99))
        self.assertIsNone(latency.percentile_ns(99))
        latency = Latency(outcomes_of(range(100)))
        self.assertEqual(latency.percentile_ns(99), 99)
        percents = [percentile.percent for percentile in latency.percentiles()]
        self.assertEqual(percents, [50, 75, 90, 95, 99])

    def test_nothing_has_no_percentiles(self):
        self.assertEqual(Latency().percentiles(), [])
        self.assertIsNone(Latency().mean_ns)


class IntervalTest(unittest.TestCase):
    def test_few_requests_have_no_upper_bound(self):
        found = Latency(outcomes_of(range(100))).percentile(99)
        self.assertEqual(found.method, "order_statistics")
        self.assertIsNone(found.upper_ns)
        self.assertLess(found.lower_ns, found.value_ns)

    def test_a_bound_may_fall_among_failures(self):
        # 9 % of the requests failed: p90 is a latency, barely.
        found = Latency(outcomes_of(range(910), failed=90)).percentile(90)
        self.assertNotEqual(found.value_ns, FAILED)
        self.assertEqual(found.upper_ns, FAILED)

    def test_blocks_that_differ_widen_the_interval(self):
        steady = [outcomes_of(range(100)) for _ in range(20)]
        # The same requests, in another order: a slow half after a fast one.
        fast = outcomes_of([*range(90), *range(10)])
        slow = outcomes_of([*range(10, 100), *range(90, 100)])
        uneven = [fast] * 10 + [slow] * 10
        together = Outcomes()
        for part in steady:
            together.merge(part)
        narrow = Latency(together, steady).percentile(50)
        wide = Latency(together, uneven).percentile(50)
        self.assertEqual(narrow.method, "blocks")
        self.assertEqual(narrow.value_ns, wide.value_ns)
        self.assertLess(wide.lower_ns, narrow.lower_ns - 10)
        self.assertGreater(wide.upper_ns, narrow.upper_ns + 10)

    def test_blocks_are_at_most_thirty_and_ignore_empty_parts(self):
        part = outcomes_of([1])
        self.assertEqual(make_blocks([part] * 9 + [Outcomes()] * 9), [])
        self.assertEqual(len(make_blocks([part] * 10)), 10)
        blocks = make_blocks([part] * 100)
        self.assertEqual(len(blocks), 30)
        self.assertEqual(sum(block.count for block in blocks), 100)


if __name__ == "__main__":
    testing_main.main()
