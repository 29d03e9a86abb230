"""Tests distbench.histogram: the bucket scheme, quantiles and merging."""

import random
import unittest

from distbench._proto import results_pb2
from distbench.errors import ResultError
from distbench.histogram import (
    BUCKET_COUNT,
    MAX_VALUE,
    Histogram,
    bucket_bounds,
    bucket_index,
)
from tests import testing_main


def histogram_of(values):
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


def latencies(count, seed):
    draw = random.Random(seed)
    return [int(draw.lognormvariate(13, 1)) for _ in range(count)]


class BucketTest(unittest.TestCase):
    def test_buckets_cover_all_values_without_gap(self):
        expected = 0
        for index in range(BUCKET_COUNT):
            lower, upper = bucket_bounds(index)
            self.assertEqual(lower, expected)
            self.assertEqual(bucket_index(lower), index)
            self.assertEqual(bucket_index(upper), index)
            expected = upper + 1
        self.assertEqual(expected, MAX_VALUE + 1)

    def test_small_values_are_exact_and_large_ones_to_a_128th(self):
        self.assertEqual(bucket_bounds(bucket_index(127)), (127, 127))
        for value in (300, 10**6, 10**12):
            lower, upper = bucket_bounds(bucket_index(value))
            self.assertLess(upper - lower, value / 128)


class QuantileTest(unittest.TestCase):
    def test_values_are_those_of_sorting_within_half_a_bucket(self):
        values = sorted(latencies(5000, seed=1))
        histogram = histogram_of(values)
        for quantile in (0.01, 0.25, 0.5, 0.9, 0.99, 0.999):
            exact = values[int(len(values) * quantile)]
            found = histogram.value_at_quantile(quantile)
            self.assertLessEqual(abs(found - exact), exact / 256 + 1)

    def test_extremes_and_moments_are_exact(self):
        values = latencies(1000, seed=2)
        histogram = histogram_of(values)
        self.assertEqual(histogram.value_at_quantile(0), min(values))
        self.assertEqual(histogram.value_at_quantile(1), max(values))
        self.assertEqual((histogram.min, histogram.max), (min(values), max(values)))
        self.assertAlmostEqual(histogram.mean, sum(values) / 1000, delta=1e-3)

    def test_overflowed_values_count_as_the_maximum(self):
        histogram = histogram_of([5, 2**50, 2**51])
        self.assertEqual(histogram.overflow_count, 2)
        self.assertEqual(histogram.value_at_quantile(0.5), 2**51)
        self.assertEqual(histogram.count_at_most(2**50), 1)
        self.assertEqual(histogram.count_at_most(2**51), 3)

    def test_an_empty_histogram_has_no_quantiles(self):
        self.assertIsNone(Histogram().mean)
        with self.assertRaisesRegex(ValueError, "without values"):
            Histogram().value_at_quantile(0.5)
        with self.assertRaisesRegex(ValueError, "from 0 to 1"):
            histogram_of([1]).value_at_quantile(99)

    def test_curve_ends_at_the_maximum_and_counts_exactly(self):
        values = latencies(3000, seed=3)
        curve = histogram_of(values).curve()
        self.assertEqual(curve[-1], (max(values), 3000))
        for point in curve:
            exact = sum(value <= point.value for value in values)
            self.assertEqual(point.count_at_most, exact)


class MergeTest(unittest.TestCase):
    def test_a_sum_is_the_histogram_of_all_values(self):
        one, two = latencies(700, seed=4), [*latencies(300, seed=5), 2**50]
        merged = histogram_of(one) + histogram_of(two)
        together = histogram_of(one + two)
        self.assertEqual(list(merged.buckets()), list(together.buckets()))
        self.assertEqual(merged.overflow_count, 1)
        self.assertEqual(merged.to_proto().min, together.to_proto().min)
        self.assertEqual(merged.count, 1001)

    def test_adding_nothing_changes_nothing(self):
        histogram = histogram_of([7, 9])
        total = histogram + Histogram()
        self.assertEqual(total.to_proto(), histogram.to_proto())


class ProtoTest(unittest.TestCase):
    def test_encoding_and_decoding_lose_nothing(self):
        proto = histogram_of([*latencies(100, seed=6), 2**50]).to_proto()
        self.assertEqual(Histogram.from_proto(proto).to_proto(), proto)

    def test_contradictions_are_refused(self):
        def damaged(**fields):
            proto = histogram_of([5, 300, 300]).to_proto()
            for name, value in fields.items():
                if isinstance(value, list):
                    del getattr(proto, name)[:]
                    getattr(proto, name).extend(value)
                else:
                    setattr(proto, name, value)
            return proto

        for proto, problem in (
            (results_pb2.Histogram(), "sub_bucket_bits 0"),
            (damaged(bucket_counts=[1]), "2 bucket indices for 1 counts"),
            (damaged(bucket_index_deltas=[5, 0]), "bucket 5"),
            (damaged(bucket_index_deltas=[5, 6000]), "bucket 6005"),
            (damaged(bucket_counts=[1, 0]), "count of 0"),
            (damaged(bucket_counts=[1, 2**63]), "more than 2"),
            (damaged(max=9), "a max of 9"),
            (damaged(min=6), "a min of 6"),
            (damaged(sum=float("nan")), "a sum of nan"),
            (damaged(sum_of_squares=-1.0), "squares of -1"),
        ):
            with self.assertRaisesRegex(ResultError, problem):
                Histogram.from_proto(proto)


if __name__ == "__main__":
    testing_main.main()
