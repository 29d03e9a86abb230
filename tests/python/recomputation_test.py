# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Computes some figures of results anew from their logs, in plain numpy, and
compares them with those of the program. It is the only place that computes what
distbench computes, and shares no code with it."""

import math
import os

import numpy

import distbench
from distbench._proto import results_pb2
from tests import programs
from tests import testing_main
from tests.programs import client_server_config

MAKE_RESULT = os.path.abspath("distbench/report/testing/make_example_result")

PERCENTS = (50, 75, 90, 95, 99, 99.9)


def buckets_of(histogram):
    """Lower and upper bounds of buckets, and counts. An octave of values has 2^7
    buckets of equal width; below, each value has one."""
    indices = numpy.cumsum(numpy.array(histogram.bucket_index_deltas, dtype=int))
    octave, part = numpy.divmod(indices, 1 << histogram.sub_bucket_bits)
    width = 2 ** numpy.maximum(octave - 1, 0)
    lower = (part + (octave > 0) * (1 << histogram.sub_bucket_bits)) * width
    return lower, lower + width, numpy.array(histogram.bucket_counts, dtype=int)


def values_in(histograms):
    """The values of histograms, ascending, each as the middle of its bucket."""
    buckets = [buckets_of(histogram) for histogram in histograms]
    lower, upper, counts = (numpy.concatenate(part) for part in zip(*buckets))
    middles = numpy.sort(numpy.repeat((lower + upper - 1) // 2, counts))
    return numpy.clip(
        middles,
        min(histogram.min for histogram in histograms),
        max(histogram.max for histogram in histograms),
    )


def percentile(sorted_values, failed, percent):
    """Failures rank above all values."""
    count = len(sorted_values) + failed
    ranked = numpy.append(sorted_values, numpy.full(failed, math.inf))
    return ranked[min(int(count * percent / 100), count - 1)]


def student_t(probability, degrees):
    """The quantile, by adding up the density in small steps from 0 on."""
    t = numpy.linspace(0, 50, 2_000_001)
    density = (1 + t * t / degrees) ** (-(degrees + 1) / 2)
    steps = (density[1:] + density[:-1]) / 2
    # Half of the area is above 0; what is beyond 50 counts little.
    share = numpy.append(0, numpy.cumsum(steps)) / numpy.sum(steps) / 2
    return t[numpy.searchsorted(share, probability - 0.5)]


def welch_ratio(base, new):
    """The ratio of geometric means with its 95 % interval (B. L. Welch, Biometrika
    34, 1947)."""
    logs = [numpy.log(group) for group in (base, new)]
    errors = [numpy.var(group, ddof=1) / len(group) for group in logs]
    degrees = sum(errors) ** 2 / sum(
        error**2 / (len(group) - 1) for error, group in zip(errors, logs)
    )
    difference = numpy.mean(logs[1]) - numpy.mean(logs[0])
    half = student_t(0.975, degrees) * math.sqrt(sum(errors))
    return numpy.exp([difference, difference - half, difference + half])


class RecomputationTest(programs.ClusterTest):
    def read(self, *paths):
        return distbench.read_results(*paths, program=programs.DISTBENCH)

    def make_result(self, *arguments):
        path = self.path(f"{len(os.listdir(self.folder))}.pb")
        outcome = self.run_to_end(MAKE_RESULT, path, *arguments)
        self.assertEqual(outcome.status, 0, outcome)
        return self.read(path)

    def assert_percentiles(self, latency, values, tolerance):
        """`values` are ascending, without the failures."""
        self.assertEqual(latency.count, len(values) + latency.failed_count)
        compared = 0
        for percent in PERCENTS:
            found = latency.percentile_ns(percent)
            if found is None:
                continue
            expected = percentile(values, latency.failed_count, percent)
            if expected == math.inf:
                self.assertEqual(found, distbench.FAILED)
            else:
                self.assertAlmostEqual(found, expected, delta=tolerance * expected)
            compared += 1
        self.assertGreaterEqual(compared, 4)

    def assert_rpc(self, run, name):
        """By the statistics of each pair of instances."""
        all_statistics = [
            log.log.statistics
            for log in distbench.rpc_logs(run.result)
            if log.rpc == name
        ]
        rpc = run.rpc(name)
        self.assertEqual(
            (rpc.succeeded, rpc.failed),
            (
                sum(s.succeeded_count for s in all_statistics),
                sum(s.failed_count for s in all_statistics),
            ),
        )
        seconds = 1e-9 * (
            max(s.last_end_timestamp_ns for s in all_statistics)
            - min(s.first_start_timestamp_ns for s in all_statistics)
        )
        self.assertAlmostEqual(rpc.per_second * seconds, rpc.succeeded, places=6)
        for latency, field in (
            (rpc.service_time, "service_time_ns"),
            (rpc.response_time, "response_time_ns"),
        ):
            histograms = [
                getattr(s, field) for s in all_statistics if s.HasField(field)
            ]
            if not histograms:
                self.assertEqual(latency.count, 0)
                continue
            total = sum(histogram.sum for histogram in histograms)
            values = values_in(histograms)
            self.assertAlmostEqual(latency.mean_ns, total / len(values), places=3)
            self.assert_percentiles(latency, values, 0)

    def test_percentiles_and_rates_of_generated_results(self):
        for size in (("1", "1", "1", "5", "100"), ("2", "3", "2", "20", "50")):
            for run in self.make_result("test", *size).runs:
                for rpc in run.rpcs:
                    self.assert_rpc(run, rpc.name)

    def test_percentiles_and_rates_of_kept_results(self):
        for run in self.read("python/examples/data/sweep.pb.gz").runs:
            self.assert_rpc(run, "query")

    def test_percentiles_among_failures(self):
        results = self.make_result("test", "1", "1", "1", "5", "100")
        result = results_pb2.TestResult()
        result.CopyFrom(results.runs[0].result)
        log = result.service_logs.instance_logs["client/0"].peer_logs["server/0"]
        log.rpc_logs[0].statistics.failed_count = 30
        path = self.path("failed.pb")
        with open(path, "wb") as file:
            message = results_pb2.TestSequenceResults(test_results=[result])
            file.write(message.SerializeToString())
        (run,) = self.read(path).runs
        self.assert_rpc(run, "rpc_0")
        self.assertEqual(
            run.rpc("rpc_0").service_time.percentile_ns(95), distbench.FAILED
        )

    def test_percentiles_of_samples(self):
        """Of a run of which each RPC was kept, as exact as histograms are."""
        sequencer = self.start_sequencer("--local_nodes=2")
        path = self.path("real.pb")
        config = client_server_config("max_iteration_count: 1000")
        outcome = self.run_tests(
            sequencer,
            self.write("some.config", config),
            f"--outfile={path}",
            "--binary_output",
            "--allow_invalid",
        )
        self.assertEqual(outcome.status, 0, outcome)
        results = self.read(path)
        samples = results.frame("samples")
        rpc = results.runs[0].rpc("ping")
        self.assertEqual((rpc.succeeded, rpc.dropped_samples), (1000, 0))
        # A bucket is 1/128 of its values wide, and its middle off by half of that.
        times = numpy.sort(samples["service_time_ns"].to_numpy())
        self.assert_percentiles(rpc.service_time, times, 0.004)
        self.assertAlmostEqual(rpc.service_time.mean_ns, times.mean(), places=3)
        begin = samples["start_timestamp_ns"]
        end = begin + samples["service_time_ns"].astype("int64")
        self.assertEqual(rpc.duration_ns, end.max() - begin.min())

    def test_a_comparison(self):
        groups = []
        for factors in (("1", "1.02", "0.97"), ("1.3", "1.25", "1.4")):
            parts = [
                self.make_result("test", "1", "1", "1", "5", "100", factor)
                for factor in factors
            ]
            groups.append(parts[0] + parts[1] + parts[2])
        table = distbench.compare(*groups, program=programs.DISTBENCH)
        rows = table.frame().set_index("metric")
        for metric, measure in (
            ("p50", lambda rpc: rpc.response_time.percentile_ns(50)),
            ("p99", lambda rpc: rpc.response_time.percentile_ns(99)),
            ("mean", lambda rpc: rpc.response_time.mean_ns),
        ):
            base, new = (
                [measure(run.rpc("rpc_0")) for run in group.runs] for group in groups
            )
            found = rows.loc[metric]
            self.assertAlmostEqual(
                found["base"], numpy.exp(numpy.mean(numpy.log(base))), places=3
            )
            change, lower, upper = welch_ratio(base, new)
            self.assertAlmostEqual(found["change"], change)
            self.assertAlmostEqual(found["lower"], lower, places=3)
            self.assertAlmostEqual(found["upper"], upper, places=3)
            self.assertEqual(found["verdict"], "worse")


if __name__ == "__main__":
    testing_main.main()
