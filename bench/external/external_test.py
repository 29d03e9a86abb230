# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests what the comparison computes from what the programs report."""

import json
import math
import os
import unittest

from bench import histogram
from bench.external import cases
from bench.external import programs
from bench.external import table
from bench.gallery import peers
from tests import testing_main

TESTDATA = "bench/gallery/testdata"

# Of 10 RPCs, 7 took 1 us and 3 about a second. A series over time has another
# latency too.
RESULT = """
statistics {
  service_time_ns { bucket_index_deltas: 5 bucket_counts: 10 }
  response_time_ns {
    bucket_index_deltas: 506
    bucket_index_deltas: 2548
    bucket_counts: 7
    bucket_counts: 3
  }
}
        rpc_time_series {
          service_time_ns { bucket_index_deltas: 1 bucket_counts: 99 }
          lateness_ns { bucket_index_deltas: 1 bucket_counts: 99 }
        }
    }
"""


def recorded(name):
    with open(os.path.join(TESTDATA, name), encoding="utf-8") as file:
        return json.load(file)


def figures(per_second=1.0, p50=1.0, slow=0):
    return cases.Figures(per_second, p50, 2.0, 3.0, slow, 0.0)


def case(name):
    names = ("closed", "crowded", "connections", "open", "frozen", "watch",
             "put", "talk", "paced")
    every = cases.cases(rate=200, seconds=2) + cases.stream_cases(seconds=2)
    return dict(zip(names, every, strict=True))[name]


class HistogramTest(unittest.TestCase):

    def test_series_over_time_are_left_out(self):
        got = histogram.of_result(RESULT, "response_time_ns")
        self.assertEqual([count for _, count in got], [7, 3])
        self.assertAlmostEqual(got[0][0], 1000, delta=10)
        self.assertAlmostEqual(got[1][0], 1e9, delta=1e7)
        self.assertAlmostEqual(histogram.quantile(got, 0.5), 1e-6, delta=1e-8)
        self.assertAlmostEqual(histogram.quantile(got, 0.75), 1, delta=0.01)
        with self.assertRaises(ValueError):
            histogram.of_result(RESULT, "lateness_ns")


class ParserTest(unittest.TestCase):

    def test_ghz_says_of_each_call_how_long_it_took(self):
        result = recorded("ghz.json")
        result["details"] = [{"latency": latency} for latency in
                             (99_000_000, 100_000_001, 900_000_000)]
        got = programs.parse_ghz(json.dumps(result))
        self.assertEqual((got.p50, got.p99, got.longest, got.slow),
                         (189726e-9, 0.035226971, 0.036623139, 2))
        self.assertAlmostEqual(got.failed, 9 / 998)

    def test_ghz_without_a_success_has_no_percentiles(self):
        result = {"count": 2, "rps": 1, "errorDistribution": {"refused": 2},
                  "latencyDistribution": None, "slowest": 0, "details": None}
        got = programs.parse_ghz(json.dumps(result))
        self.assertEqual((got.p50, got.p99, got.failed),
                         (math.inf, math.inf, 1))

    def test_distbench_counts_slow_response_times(self):
        got = programs.parse_distbench(
            json.dumps(recorded("distbench.json")), RESULT)
        self.assertAlmostEqual(got.p50, 171519e-9)
        self.assertAlmostEqual(got.longest, 13410110e-9)
        self.assertEqual(got.slow, 3)

    def test_distbench_knows_the_messages_of_an_echo(self):
        result = recorded("distbench.json")
        test = result["tests"][0]
        test["streams"] = {
            "columns": ["part", "count", "p50_ns", "p99_ns", "max_ns"],
            "rows": [["first_message", 1, 1, 1, 1],
                     ["round_trip", 500, 2e6, 3e9, 4e9]]}
        test["rpcs"][0]["duration_ns"] = 5e9
        got = programs.parse_messages(json.dumps(result))
        self.assertEqual((got.per_second, got.p50, got.p99, got.longest),
                         (100, 0.002, 3, 4))
        line = table.text(cases.GO, case("paced"),
                          {"ghz": [figures()], "- messages": [got]}
                          ).splitlines()[3]
        self.assertRegex(line, r"- messages +100\.0 +2000\.0 .* 4000000\.0 +1\.33")

    def test_distbench_in_a_closed_loop_has_service_times(self):
        result = recorded("distbench.json")
        result["tests"][0]["rpcs"][0]["response_time"] = None
        got = programs.parse_distbench(json.dumps(result), RESULT)
        self.assertAlmostEqual(got.p50, 160255e-9)
        self.assertEqual(got.slow, 0)


class TrafficTest(unittest.TestCase):

    def test_both_programs_send_the_same(self):
        for name, ours, theirs in (
                ("closed", "max_parallel_iterations: 1 ", "--concurrency=1"),
                ("crowded", "max_parallel_iterations: 50 ",
                 "--concurrency=50"),
                ("open", "open_loop_interval_ns: 5000000 ", "--rps=200")):
            text = programs.config(cases.PYTHON, "host:1", case(name))
            self.assertIn(ours, text)
            self.assertIn("duration_us: 2000000 ", text)
            command = peers.ghz_command(
                "ghz", "host:1", 2, case(name).rate, case(name).in_flight, [])
            self.assertIn(theirs, command)
            self.assertIn("--duration=2s", command)
            self.assertEqual("--async" in command, name == "open")

    def test_descriptors_are_given_to_both_or_to_none(self):
        for service, is_given in ((cases.GO, False), (cases.BARE, True)):
            self.assertEqual(
                'descriptor_set_file: "health.pb"'
                in programs.config(service, "host:1", case("closed")), is_given)
            self.assertEqual(
                "--protoset=folder/health.pb"
                in programs.ghz_flags(service, case("closed"), "folder"),
                is_given)

    def test_both_have_the_same_connections(self):
        self.assertIn("connections: 8 ", programs.config(
            cases.BARE, "host:1", case("connections")))
        self.assertIn("--connections=8", programs.ghz_flags(
            cases.BARE, case("connections"), "folder"))

    def test_both_send_the_same_streams(self):
        for name, method, ours, theirs in (
                ("watch", "Watch", "client_messages: 1 }", []),
                ("put", "Put", "client_messages: 100 }",
                 ["--stream-call-count=100"]),
                ("paced", "Talk", 'client_messages: 50 client_interval: "50ms" '
                 'response_starts: "echo" }',
                 ["--stream-call-count=50", "--stream-interval=50ms"])):
            text = programs.config(cases.GO, "host:1", case(name))
            self.assertIn(f'method: "/example.Cache/{method}"', text)
            self.assertIn(f"stream {{ {ours}", text)
            flags = programs.ghz_flags(cases.GO, case(name), "folder")
            self.assertIn(f"--call=example.Cache/{method}", flags)
            self.assertEqual(
                [flag for flag in flags if flag.startswith("--stream")], theirs)

    def test_rates_and_costs_of_streams_are_those_of_messages(self):
        got = cases.of_messages(figures(per_second=7), case("talk"),
                                cpu_seconds=3, rpcs=60)
        self.assertEqual(got.per_second, 700)
        self.assertAlmostEqual(got.cpu_us, 500)
        got = cases.of_messages(figures(per_second=7), case("closed"),
                                cpu_seconds=3, rpcs=60)
        self.assertEqual(got.per_second, 7)
        self.assertAlmostEqual(got.cpu_us, 50000)


class TableTest(unittest.TestCase):

    def test_users_of_a_frozen_server_wait_for_it(self):
        frozen = case("frozen")
        self.assertEqual(frozen.seconds, 3)
        # Who arrives at one of 600 equidistant instants waits until 2 s.
        waits = sorted(max(0.0, 2 - i / 200) if i >= 200 else 0.0
                       for i in range(600))
        got = cases.truth_of_freeze(frozen)
        self.assertEqual(got.slow, sum(wait > 0.1 + 1e-9 for wait in waits))
        self.assertAlmostEqual(got.p50, waits[300], delta=0.006)
        self.assertAlmostEqual(got.p99, waits[594], delta=0.006)
        self.assertEqual(got.longest, waits[-1])

    def test_ratios_are_those_within_a_round(self):
        base = [figures(per_second=value) for value in (1, 10, 100)]
        runs = [figures(per_second=value) for value in (2, 10, 50)]
        self.assertEqual(table.ratio(runs, base, "per_second"),
                         "1.00 (0.50-2.00)")
        self.assertEqual(table.ratio(runs, base, "slow"), "-")

    def test_the_table_has_medians_and_what_is_computed(self):
        results = {"ghz": [figures(slow=value) for value in (5, 1, 9)],
                   "distbench": [figures(slow=180)] * 3}
        lines = table.text(cases.BARE, case("frozen"), results).splitlines()
        self.assertIn("frozen for 1 s of 3 s", lines[0])
        self.assertRegex(lines[2], r"ghz +1\.0 .* 5 +0\.00% ")
        self.assertRegex(lines[3], r"distbench .* 180 .* 36\.00 \(20\.00-180")
        self.assertRegex(lines[4], r"computed +200\.0 .* 970000\.0 .* 180 ")
        lines = table.text(cases.BARE, case("open"), results).splitlines()
        self.assertEqual(len(lines), 4)

    def test_the_table_compares_cpu_times(self):
        runs = {name: [cases.of_messages(figures(), case("closed"), seconds, 1)
                       for seconds in times]
                for name, times in (("ghz", (1, 2, 3)),
                                    ("distbench", (0.5, 0.5, 0.3)))}
        lines = table.text(cases.BARE, case("closed"), runs).splitlines()
        self.assertRegex(lines[2], r" 2000000\.0 ")
        self.assertRegex(lines[3], r" 500000\.0 .* 0\.25 \(0\.10-0\.50\)$")


if __name__ == "__main__":
    testing_main.main()
