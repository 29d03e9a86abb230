# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What the charts of the HTML report show, in a real browser. Skipped if there
is no chromium."""

import os

from tests import page_results
from tests import report_page
from tests import testing_main

START_S = page_results.START_S
run = page_results.run
sample = page_results.sample
series = page_results.series


class PageChartsTest(report_page.ReportPageTest):
    def test_every_rpc_is_shown_whatever_the_latency(self):
        page = self.open_report(
            self.write(
                "tiers.pb",
                run(
                    "tiers",
                    {
                        "front": [sample(START_S, 500, 100)] * 3,
                        "middle": [sample(START_S, 200)] * 3,
                        "unused": [],
                    },
                ),
            )
        )
        # Response time is chosen at first, which only open loops have.
        self.assertEqual(
            self.column(page, "latency-table", 0), ["front", "middle", "unused"]
        )
        self.assertEqual(
            self.column(page, "latency-table", 1),
            ["response time", "service time", "service time"],
        )
        self.assertIn("600 µs", self.column(page, "latency-table", 5)[0])
        self.assertIn("200 µs", self.column(page, "latency-table", 5)[1])
        self.assertEqual(
            self.labels(page, "percentile-chart"),
            ["front", "middle, service time"],
        )
        self.assertIn(
            "middle, service time", self.text_of(page, "latency-legend")
        )
        page.evaluate("document.querySelector('input[name=latency]').click()")
        self.assertEqual(
            self.labels(page, "percentile-chart"), ["front", "middle"]
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_every_chart_has_a_legend_that_hides_its_curves(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        for chart in report_page.CHARTS_WITH_LEGENDS:
            with self.subTest(chart=chart):
                shown = self.labels(page, chart)
                legend = (
                    "document.getElementById"
                    f"('{chart}').closest('section').querySelector('.legend')"
                )
                name = page.evaluate(
                    f"{legend}.querySelector('button').innerText"
                )
                self.assertTrue(any(name in label for label in shown))
                page.evaluate(f"{legend}.querySelector('button').focus()")
                page.press("Enter", "\r")
                hidden = self.labels(page, chart)
                self.assertLess(len(hidden), len(shown))
                self.assertFalse(any(name in label for label in hidden))
                page.press("Enter", "\r")
                self.assertEqual(self.labels(page, chart), shown)
        page.close()

    def test_hidden_curves_stay_hidden(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        page.evaluate(
            "document.querySelector('#latency-legend button').click()"
        )
        # The charts are drawn anew.
        page.evaluate("document.querySelector('input[name=latency]').click()")
        self.assertEqual(self.labels(page, "cdf-chart"), ["rpc_1"])
        self.assertEqual(
            page.evaluate(
                "document.querySelector('#over-time-legend button').ariaPressed"
            ),
            "false",
        )
        page.close()

    def test_partial_seconds_have_the_rates_of_what_they_cover(self):
        page = self.open_report(
            self.write(
                "partial.pb",
                run(
                    "partial",
                    {
                        "query": [
                            sample(START_S + 0.7, 1000),
                            sample(START_S + 3.749, 1000),
                        ]
                    },
                    log=series([30, 100, 100, 75]),
                    run_info=f"start_timestamp_ns: {START_S}500000000",
                ),
            )
        )
        points = self.points(page, "rate-chart", "query")
        # 0.3 s of the first second are less than half of it.
        self.assertEqual([round(x, 3) for x, _ in points], [0.5, 1.5, 2.5])
        self.assertEqual([round(y) for _, y in points], [100, 100, 100])
        note = self.text_of(page, "over-time-note")
        self.assertIn("less than half", note)
        self.assertIn("the part in which traffic ran", note)
        # Its latencies are as good as any.
        self.assertEqual(
            len(self.points(page, "latency-over-time-chart", "query, p50")), 4
        )
        page.close()

    def test_traffic_of_a_part_of_a_second_has_a_rate(self):
        page = self.open_report(
            self.write(
                "short.pb",
                run(
                    "short",
                    {
                        "query": [
                            sample(START_S + 0.2, 1000),
                            sample(START_S + 0.399, 1000),
                        ]
                    },
                    log=series([40]),
                ),
            )
        )
        [[_, rate]] = self.points(page, "rate-chart", "query")
        self.assertEqual(round(rate), 200)
        page.close()

    def test_of_many_nodes_the_busiest_are_drawn(self):
        usage = " ".join(
            f"""node_resources {{ key: "node{i}" value {{
              samples {{ end_timestamp_ns: {START_S}000000000
                duration_ns: 1000000000 process_cpu_ns: {1000 + i} }}
              host {{ hostname: "h{i}" }} }} }}"""
            for i in range(25)
        )
        page = self.open_report(
            self.write("nodes.pb", run("nodes", {}, usage=usage))
        )
        drawn = self.labels(page, "memory-chart")
        self.assertEqual(drawn, [f"node{i}" for i in range(17, 25)])
        self.assertIn(
            "8 of 25 nodes are drawn", self.text_of(page, "resources-nodes")
        )
        self.choose(page, "#resources-nodes select", "node8 – node15")
        self.assertEqual(
            self.labels(page, "memory-chart"),
            [f"node{i}" for i in range(8, 16)],
        )
        self.open_details(page)
        self.assertEqual(
            [
                line.split("\n")[0]
                for line in self.column(page, "nodes-table", 0)
            ],
            [f"node{i}" for i in range(25)],
        )
        page.close()

    def test_the_heat_map_shows_what_its_pairs_have(self):
        page = self.open_report(self.example("few", 3, 4, 1, 1, 26))
        self.assertTrue(
            page.evaluate(f"{report_page.IS_DRAWN}('heat-map-canvas')")
        )
        self.assertEqual(
            page.evaluate(
                "document.querySelector("
                "'#peers-controls label:last-child select').value"
            ),
            "p50",
        )
        reason = (
            "without a p99, which takes 100 RPCs of a pair: the busiest has 26"
        )
        self.assertIn(reason, self.text_of(page, "heat-map"))
        self.assertIn(
            "p50, p99 and maximum are those of the response time",
            self.text_of(page, "heat-map"),
        )
        self.choose(page, "#peers-controls label:last-child select", "p99")
        self.assertIn(
            f"All 12 pairs are {reason}", self.text_of(page, "heat-map")
        )
        page.close()

    def test_repeats_of_a_test_share_a_hue(self):
        page = self.open_report(
            self.write("base.pb", page_results.repeats([100] * 3)),
            self.write("new.pb", page_results.repeats([300] * 3)),
        )
        datasets = page.evaluate(
            "Chart.getChart('percentile-chart').data.datasets.map("
            "({label, borderColor, borderWidth}) =>"
            " [label, borderColor, borderWidth])"
        )
        colors = {}
        for name in ("base", "new"):
            group = [entry for entry in datasets if f"{name}.pb" in entry[0]]
            self.assertEqual(len(group), 5)
            colors[name] = {color for _, color, _ in group}
            self.assertEqual(len(colors[name]), 1)
            widths = {label: width for label, _, width in group}
            median = f"test ({name}.pb), median of 4"
            self.assertGreater(widths.pop(median), max(widths.values()))
        self.assertNotEqual(colors["base"], colors["new"])
        medians = self.points(
            page, "percentile-chart", "test (base.pb), median of 4"
        )
        # Between the second and the third repeat.
        self.assertAlmostEqual(medians[0][1] / 101_500, 1, delta=0.01)
        # One entry and one chip for all repeats.
        self.assertEqual(
            self.text_of(page, "latency-legend").count("4 repeats"), 2
        )
        page.evaluate("document.querySelector('input[name=test]').click()")
        self.assertEqual(len(self.labels(page, "percentile-chart")), 5)
        self.assertEqual(self.fragment(page)["runs"], ["4,5,6,7"])
        page.close()

    def test_sweeps_are_curves(self):
        page = self.open_report(self.write("sweep.pb", page_results.sweep()))
        # Over load, which depends on the number of nodes.
        points = self.points(page, "sweep-latency-chart", "size 1, p99")
        self.assertEqual([round(x) for x, _ in points], [200, 400, 1000])
        self.assertEqual(
            [
                [round(x), round(y)]
                for x, y in self.points(
                    page, "sweep-rate-chart", "size 1000, offered"
                )
            ],
            [[200, 200], [400, 400], [1000, 1000]],
        )
        # Over a parameter.
        self.choose(
            page, "#sweep-controls label:last-child select", "node_count"
        )
        points = self.points(page, "sweep-latency-chart", "size 1, p50")
        self.assertEqual([x for x, _ in points], [2, 4, 10])
        for (_, ns), us in zip(points, (21, 41, 101)):
            self.assertAlmostEqual(ns / (1000 * us), 1, delta=0.01)
        axis = "Chart.getChart('sweep-latency-chart').scales.x"
        self.assertEqual(page.evaluate(f"{axis}.type"), "linear")
        self.choose(page, "#sweep-controls label:last-child select", "size")
        self.assertEqual(
            self.labels(page, "sweep-latency-chart")[::2],
            ["node_count 2, p99", "node_count 4, p99", "node_count 10, p99"],
        )
        # From 1 to 1000.
        self.assertEqual(page.evaluate(f"{axis}.type"), "logarithmic")
        self.assertEqual(
            page.evaluate(f"{axis}.ticks.map(tick => tick.value)"),
            [1, 10, 100, 1000],
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_tests_of_a_sweep_are_called_by_what_was_swept(self):
        page = self.open_report(self.write("sweep.pb", page_results.sweep()))
        name = "document.querySelector('#latency-table tbody td')"
        label = page.evaluate(f"{name}.textContent")
        self.assertRegex(label, r"^node_count=2, size=1\b")
        self.assertEqual(page.evaluate(f"{name}.title"), "clique 2 1")
        page.resize(400, 800)
        page.wait_until("innerWidth === 400")
        page.wait_until("document.documentElement.scrollWidth <= 400")
        page.close()

    def test_columns_without_a_percentile_are_left_out(self):
        page = self.open_report(self.write("sweep.pb", page_results.sweep()))
        columns = page.evaluate(
            "[...document.querySelectorAll('#latency-table th')]"
            ".map(({textContent}) => textContent)"
        )
        self.assertIn("p50", columns)
        self.assertNotIn("p99.999", columns)
        page.close()

    def test_long_names_of_tests_are_cut_to_what_differs(self):
        tests = "".join(
            page_results.run(
                f"a_pattern_with_a_long_name_{load}_grpc_polling",
                {"query": [page_results.sample(page_results.START_S, 100)]},
            )
            for load in ("low", "high")
        )
        page = self.open_report(self.write("long.pb", tests))
        cells = "[...document.querySelectorAll('#latency-table tr td:first-child')]"
        self.assertEqual(
            page.evaluate(f"{cells}.map(({{textContent}}) => textContent)"),
            ["low", "high"],
        )
        self.assertEqual(
            page.evaluate(f"{cells}[0].title"),
            "a_pattern_with_a_long_name_low_grpc_polling",
        )
        page.close()

    def test_other_tests_are_no_sweep(self):
        page = self.open_report(
            self.example("base", 2, 2, 1, 2, 20),
            self.example("new", 2, 2, 1, 2, 20),
        )
        self.assertTrue(self.is_hidden(page, "sweep"))
        page.close()

    def test_a_page_of_many_pairs_stays_small(self):
        self.open_report(self.example("big", 100, 100, 2, 10, 1)).close()
        self.assertLess(os.path.getsize(self.path("report.html")), 5_000_000)


if __name__ == "__main__":
    testing_main.main()
