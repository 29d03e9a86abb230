# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests what decides who was fooled: truths, parsers, verdicts, the table."""

import json
import math
import os
import random
import unittest

from bench.gallery import disturbances
from bench.gallery import distbench
from bench.gallery import gallery
from bench.gallery import peers
from bench.gallery import report as reports
from bench.gallery import rows
from bench.gallery import truth
from tests import testing_main

TESTDATA = "bench/gallery/testdata"
OURS = distbench.Distbench("distbench", True, "distbench")
WRK, H2LOAD, H2LOAD_RPS = peers.PEERS[:3]


def recorded(name):
    with open(os.path.join(TESTDATA, name), encoding="utf-8") as file:
        return file.read()


def report(p99=0.001, failed=0.0, per_second=1000.0, warnings=()):
    return reports.Report(p99, failed, per_second, list(warnings))


def row(name):
    (found,) = [row for row in rows.rows("clock.so") if row.name == name]
    return found


def waits_of_a_queue(arrivals, service, pauses):
    """Simulates a server that works one by one, and pauses."""
    free = 0.0
    waits = []
    for arrival in arrivals:
        free = max(free, arrival)
        for begin, end in pauses:
            if begin <= free < end:
                free = end
        free += service
        waits.append(free - arrival)
    return sorted(waits)


class TruthTest(unittest.TestCase):

    def test_pauses_are_those_of_a_simulated_queue(self):
        arrivals = [i / 10_000 for i in range(60_000)]
        for pauses, pause, period in (
                ([(2.0, 2.6)], 0.6, 6),
                ([(i / 10, i / 10 + 0.03) for i in range(60)], 0.03, 0.1)):
            waits = waits_of_a_queue(arrivals, 1e-9, pauses)
            for quantile in (0.5, 0.95, 0.99):
                self.assertAlmostEqual(
                    truth.paused(quantile, pause, period),
                    waits[int(quantile * len(waits))], delta=2e-4)

    def test_overload_is_that_of_a_simulated_queue(self):
        waits = waits_of_a_queue([i / 100 for i in range(600)], 0.012, [])
        for quantile in (0.5, 0.99):
            self.assertAlmostEqual(
                truth.overloaded(quantile, 6, asked=100, served=1 / 0.012),
                waits[int(quantile * len(waits))], delta=0.02)

    def test_nobody_waits_without_an_overload(self):
        self.assertEqual(truth.overloaded(0.99, 6, asked=50, served=100), 0)
        self.assertEqual(truth.paused(0.5, pause=0.6, period=6), 0)

    def test_texts_have_units(self):
        self.assertEqual(truth.near("p99", 0.54, 0.1).text, "p99 540 ms")
        self.assertEqual(truth.near("p99", 1.188, 0.1).text, "p99 1.19 s")
        self.assertEqual(truth.near("failed", 0.01, 0.1).text, "1 % fail")
        self.assertEqual(truth.at_most(0.02).text, "p99 < 20 ms")


class VerdictTest(unittest.TestCase):

    def verdict(self, known, asked=None, **figures):
        return reports.verdict(known, report(**figures), asked)

    def test_the_tolerance_is_relative(self):
        known = truth.near("p99", 0.5, 0.1)
        for p99, verdict in ((0.449, reports.FOOLED), (0.451, reports.RIGHT),
                             (0.549, reports.RIGHT), (0.551, reports.FOOLED),
                             (math.inf, reports.FOOLED)):
            self.assertEqual(self.verdict(known, p99=p99), verdict)

    def test_a_warning_excuses_a_false_figure(self):
        known = truth.at_most(0.01)
        self.assertEqual(
            self.verdict(known, p99=1, warnings=["late"]), reports.WARNED)
        self.assertEqual(
            self.verdict(known, p99=0.01, warnings=["late"]), reports.RIGHT)

    def test_a_shortfall_of_the_rate_can_be_seen(self):
        known = truth.at_least(0.5)
        self.assertEqual(
            self.verdict(known, asked=1000, per_second=940), reports.SHOWN)
        self.assertEqual(
            self.verdict(known, asked=1000, per_second=960), reports.FOOLED)
        self.assertEqual(self.verdict(known, per_second=1), reports.FOOLED)

    def test_failures_are_compared_as_a_share(self):
        known = truth.near("failed", 0.01, 0.5)
        self.assertEqual(self.verdict(known, failed=0.012), reports.RIGHT)
        self.assertEqual(self.verdict(known, failed=0.0), reports.FOOLED)

    def test_without_a_right_figure_a_warning_is_needed(self):
        known = truth.only_a_warning()
        for p99 in (0.0, 0.001, math.inf):
            self.assertEqual(self.verdict(known, p99=p99), reports.FOOLED)
        self.assertEqual(self.verdict(known, warnings=["x"]), reports.WARNED)


class ParserTest(unittest.TestCase):

    def test_wrk(self):
        got = peers.parse_wrk(recorded("wrk_failing.txt"), "", TESTDATA)
        self.assertEqual(got, reports.Report(
            0.0134, 178 / 17807, 17504.59, ["Non-2xx or 3xx responses: 178"]))
        got = peers.parse_wrk(recorded("wrk.txt"), "", TESTDATA)
        self.assertEqual((got.failed, got.warnings), (0.0, []))

    def test_wrk_has_four_units(self):
        for text, seconds in (("250.00us", 250e-6), ("1.50ms", 1.5e-3),
                              ("1.02s", 1.02), ("1.10m", 66)):
            output = recorded("wrk.txt")
            start = output.index("99%")
            end = output.index("\n", start)
            # Short units are followed by a space.
            output = output[:start] + f"99%  {text:6} " + output[end:]
            self.assertAlmostEqual(
                peers.parse_wrk(output, "", TESTDATA).p99, seconds)

    def test_wrk_counts_timeouts_as_a_warning(self):
        errors = "Socket errors: connect 0, read 0, write 0, timeout 7"
        got = peers.parse_wrk(recorded("wrk.txt") + errors, "", TESTDATA)
        self.assertEqual(got.warnings, [errors])

    def test_h2load(self):
        got = peers.parse_h2load(recorded("h2load.txt"), "", TESTDATA)
        times = sorted(int(line.split("\t")[2])
                       for line in recorded("h2load.log").splitlines())
        self.assertEqual(len(times), 200)
        self.assertEqual(got, reports.Report(
            times[197] / 1e6, 0.01, 200.0,
            ["198 succeeded, 2 failed, 0 errored, 0 timeout"]))

    def test_ghz(self):
        got = peers.parse_ghz(recorded("ghz.json"), "", TESTDATA)
        self.assertAlmostEqual(got.p99, 0.035226971)
        self.assertAlmostEqual(got.failed, 9 / 998)
        self.assertAlmostEqual(got.per_second, 997.4591905938295)
        self.assertEqual(got.warnings,
                         ["9 x rpc error: code = Internal desc = "])

    def test_hey(self):
        got = peers.parse_hey(recorded("hey.txt"), "", TESTDATA)
        self.assertEqual(got, reports.Report(
            0.0163, 0.01, 199.2357, ["2 without status 200"]))

    def test_hey_counts_connections_that_failed(self):
        output = recorded("hey.txt") + (
            "Error distribution:\n"
            "  [200]\tGet \"http://127.0.0.1:1/\": connection refused\n")
        got = peers.parse_hey(output, "", TESTDATA)
        self.assertEqual(got.failed, 202 / 400)

    def test_distbench_counts_only_findings_that_name_the_cause(self):
        text = recorded("distbench.json")
        got = distbench.parse(text, ("late_sends", "stolen"))
        self.assertAlmostEqual(got.p99, 0.006504447)
        self.assertEqual(got.failed, 0)
        self.assertEqual([warning.split(":")[0] for warning in got.warnings],
                         ["late_sends"])
        # A note is no warning.
        self.assertEqual(distbench.parse(text, ("one_process",)).warnings, [])

    def test_distbench_in_a_closed_loop_has_service_times(self):
        result = json.loads(recorded("distbench.json"))
        result["tests"][0]["rpcs"][0]["response_time"] = None
        got = distbench.parse(json.dumps(result), ())
        self.assertAlmostEqual(got.p99, 0.001486847)

    def test_distbench_reports_percentiles_that_failed(self):
        result = json.loads(recorded("distbench.json"))
        (rpc,) = result["tests"][0]["rpcs"]
        rpc["response_time"]["percentiles"][1].update(value_ns=None, failed=True)
        rpc["failed_count"] = 999
        got = distbench.parse(json.dumps(result), ())
        self.assertEqual((got.p99, got.failed), (math.inf, 0.24975))

    def test_what_is_not_a_report_is_an_error(self):
        failed = json.loads(recorded("distbench.json"))
        failed["tests"][0]["failure"] = "node1 was lost"
        with self.assertRaisesRegex(ValueError, "node1 was lost"):
            distbench.parse(json.dumps(failed), ())
        for parse in (peers.parse_wrk, peers.parse_h2load, peers.parse_ghz,
                      peers.parse_hey):
            with self.assertRaises(ValueError):
                parse("connection refused", "", TESTDATA)


class RowTest(unittest.TestCase):

    def test_the_config_is_the_behaviour_of_the_row(self):
        for name, words in (
                ("frozen", ('action_lists { name: "query" }',
                            "open_loop_interval_ns: 1000000 ",
                            "max_duration_us: 6000000 ")),
                ("throttled", ('"SpinFor"', "int64_value: 6000 ",
                               "open_loop_interval_ns: 10000000 ")),
                ("failing", ("deadline_us: 20000", "value: 0.01 ")),
                ("slow_start", ("int64_value: 1500000 ", "size: 1 "))):
            text = distbench.config(row(name), is_open=True)
            for word in words:
                self.assertIn(word, text)
        text = distbench.config(row("frozen"), is_open=False)
        self.assertIn("max_parallel_iterations: 10 ", text)
        self.assertNotIn("open_loop_interval_ns", text)

    def test_rows_leave_out_what_they_say_nothing_about(self):
        for name, tool, reason in (
                ("frozen", WRK, ""),
                ("too_fast", H2LOAD, "has no rate"),
                ("too_fast", H2LOAD_RPS, ""),
                ("stolen", WRK, "does not look at the host"),
                ("stolen", OURS, ""),
                ("clock_back", WRK, ""),
                ("clock_back", peers.PEERS[3],
                 "cannot be shown a wrong clock")):
            self.assertEqual(gallery.reason_against(row(name), tool), reason)

    def test_stolen_time_adds_up(self):
        stat = ("cpu  10 1 20 300 4 5 6 70 0 0\n"
                "cpu0 5 0 10 150 2 3 3 30 0 0\n"
                "cpu1 5 1 10 150 2 2 3 40 0 0\n"
                "intr 5 8\n")
        ticks = os.sysconf("SC_CLK_TCK")
        got = disturbances.with_steal(stat, 2.0)
        steal = [int(line.split()[8]) for line in got.splitlines()[:3]]
        self.assertEqual(steal,
                         [70 + 4 * ticks, 30 + 2 * ticks, 40 + 2 * ticks])
        self.assertEqual(disturbances.with_steal(stat, 0).split(),
                         stat.split())

    def test_truths_are_those_of_the_documentation(self):
        self.assertEqual(
            {row.name: row.known.text for row in rows.rows("")},
            {"frozen": "p99 540 ms", "paused_together": "p99 540 ms",
             "slow_start": "p99 < 20 ms", "failing": "1 % fail",
             "throttled": "p99 1.19 s", "busy_server": "p99 29 ms",
             "busy_generator": "p99 < 20 ms", "too_fast": "p99 > 500 ms",
             "clock_ahead": "p99 < 20 ms", "clock_back": "p99 < 20 ms",
             "stolen": "a warning is due"})


class TableTest(unittest.TestCase):

    def test_table_and_json_have_every_cell(self):
        frozen, stolen = row("frozen"), row("stolen")
        cells = [
            gallery.Cell("frozen", "distbench", report=report(p99=0.55),
                         verdict="right"),
            gallery.Cell("frozen", "wrk", report=report(p99=math.inf),
                         verdict="fooled"),
            gallery.Cell("stolen", "distbench", report=report(),
                         verdict="warned"),
            gallery.Cell("stolen", "wrk", problem="does not look\nat it"),
        ]
        random.Random(1).shuffle(cells)
        self.assertEqual(
            gallery.markdown([frozen, stolen], [OURS, WRK], cells),
            "| | frozen | stolen |\n"
            "|---|---|---|\n"
            "| truth | p99 540 ms | a warning is due |\n"
            "| distbench | 550 ms: right | 1 ms: warned |\n"
            "| wrk | failed: **fooled** | does not look |")
        values = json.loads(gallery.as_json(cells))
        self.assertEqual({value["tool"] for value in values},
                         {"distbench", "wrk"})
        self.assertEqual(
            [value["report"]["p99"] for value in values
             if value["verdict"] == "fooled"], [None])


if __name__ == "__main__":
    testing_main.main()
