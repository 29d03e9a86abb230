# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests what distbench.plots draws, without a screen."""

import math
import unittest

import matplotlib

matplotlib.use("Agg")

# After use(): pyplot chooses its backend when it is imported.
from matplotlib import pyplot  # noqa: E402

import distbench  # noqa: E402
from python.tests.example import (  # noqa: E402
    SECOND_NS,
    START_NS,
    message_of,
    read,
    results_of,
    test_result,
)
from tests import testing_main  # noqa: E402


class PlotsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(pyplot.close, "all")

    def test_a_curve_ends_at_the_maximum(self):
        results = results_of(test_result(values=range(10**6, 2 * 10**6, 1000)))
        ax = distbench.plots.latency_curves(results)
        (line,) = ax.get_lines()
        self.assertEqual(line.get_label(), "example: query")
        self.assertAlmostEqual(line.get_ydata()[-1], 1.999)
        # 1000 requests: the axis ends at p99.9, half a request before all.
        self.assertAlmostEqual(line.get_xdata()[-1], -math.log10(0.5 / 1000))
        ticks = [tick.get_text() for tick in ax.get_xticklabels()]
        self.assertEqual(ticks, ["0", "50", "90", "99", "99.9"])
        ax.figure.canvas.draw()

    def test_a_curve_ends_where_failures_begin(self):
        results = results_of(test_result(values=range(1, 91), failed=10))
        (line,) = distbench.plots.latency_curves(results).get_lines()
        self.assertAlmostEqual(line.get_xdata()[-1], 1)  # p90

    def test_repetitions_have_labels_of_their_own(self):
        results = results_of(test_result(), test_result(repetition=1))
        lines = distbench.plots.latency_curves(results).get_lines()
        labels = [line.get_label() for line in lines]
        self.assertEqual(labels, ["example: query", "example #2: query"])

    def test_over_time_has_a_point_per_second_and_shades_the_warmup(self):
        result = test_result()
        log = result.service_logs.instance_logs["client/0"]
        series = log.rpc_time_series[0]
        series.interval_ns = SECOND_NS
        for second, (warmup, latency) in enumerate(((5, 127), (0, 255))):
            interval = series.intervals.add(
                index=START_NS // SECOND_NS + second,
                succeeded_count=2,
                warmup_count=warmup,
            )
            times = interval.service_time_ns
            times.sub_bucket_bits = 7
            times.bucket_index_deltas.append(latency)
            times.bucket_counts.append(2)
            times.min = times.max = latency
            times.sum, times.sum_of_squares = 2 * latency, 2 * latency**2
        ax = distbench.plots.over_time(results_of(result), values=["p50"])
        (line,) = ax.get_lines()
        self.assertEqual(list(line.get_xdata()), [0, 1])
        self.assertAlmostEqual(line.get_ydata()[1], 255e-6)
        self.assertEqual(len(ax.patches), 1)
        ax.figure.canvas.draw()

    def test_over_load_is_in_the_order_of_rates(self):
        results = results_of(
            test_result("fast", values=[10**6] * 4000),
            test_result("slow", values=[3 * 10**6] * 1000),
        )
        ax = distbench.plots.over_load(results, values=["p50"])
        (line,) = ax.get_lines()
        self.assertEqual(list(line.get_xdata()), [500, 2000])
        self.assertEqual(list(line.get_ydata()), [3, 1])

    def test_over_load_draws_the_probes_of_a_search(self):
        message = message_of()
        message.searches.add().probes.add(number=1).statistics.succeeded_count = 1
        results = read(message)
        lines = distbench.plots.over_load(results).get_lines()
        labels = [line.get_label() for line in lines]
        self.assertEqual(labels, ["search 1 p50", "search 1 p99"])

    def test_latencies_at_ticks_are_plain_numbers(self):
        axes = distbench.plots.latency_curves(results_of(test_result()))
        for low, high in ((5, 9), (0.02, 400)):
            axes.set_ylim(low, high)
            axes.figure.canvas.draw()
            ticks = axes.get_yticklabels() + axes.get_yticklabels(minor=True)
            labels = [tick.get_text() for tick in ticks if tick.get_text()]
            self.assertGreater(len(labels), 1)
            for label in labels:
                self.assertRegex(label, r"^[0-9.]+$")

    def test_given_axes_are_used(self):
        axes = pyplot.subplots()[1]
        drawn = distbench.plots.latency_curves(results_of(test_result()), ax=axes)
        self.assertIs(drawn, axes)

    def test_nothing_to_draw_is_an_error(self):
        results = results_of(test_result())
        for draw in (
            distbench.plots.latency_curves,
            distbench.plots.over_time,
            distbench.plots.over_load,
        ):
            with self.assertRaisesRegex(ValueError, "there are no .* of ask"):
                draw(results, rpcs=["ask"])


if __name__ == "__main__":
    testing_main.main()
