# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Collectives on the page in a real browser, compared with an approved picture.
Skipped if there is no chromium."""

import json

from tests import page_results
from tests import report_page
from tests import testing_main
from tests.pictures import approved_pictures

MS = 10**6
START_NS = page_results.START_S * 10**9
ITERATIONS = 40


def rank_log(instance, late_ns, end_ns, more=""):
    """A rank that begins so much later than others, and ends when all do, but for
    end_ns."""
    numbers = range(ITERATIONS)
    duration_ns = 10 * MS - late_ns + end_ns
    listed = "".join(
        f"numbers: {number} durations_ns: {duration_ns} "
        f"start_timestamps_ns: {START_NS + number * 20 * MS + late_ns} "
        for number in numbers
    )
    return f"""instance_logs {{ key: "{instance}" value {{
      iteration_logs {{ key: "all_reduce" value {{
        duration_ns {{ {page_results.histogram(duration_ns, ITERATIONS)} }}
        stride: 1 {listed} {more}
      }} }}
    }} }}"""


def collective(ranks, late_rank, groups=1, service="rank", run_info="", more=""):
    """An all-reduce of groups of ranks, of which one is late by 4 ms."""

    def late_ns(rank, group):
        # A little different, as real ones are.
        varied = (7 * rank + 3 * group) % 5 * MS // 10
        return varied + (4 * MS if (rank, group) == (late_rank, 0) else 0)

    logs = "".join(
        rank_log(
            f"{service}/{rank}/{group}",
            late_ns(rank, group),
            (5 * rank + group) % 8 * MS // 20,
            more,
        )
        for group in range(groups)
        for rank in range(ranks)
    )
    endpoints = "".join(
        f"""service_endpoints {{ key: "{service}/{rank}/{group}" value {{
          hostname: "host{rank}" node_alias: "node{rank}"
        }} }}"""
        for group in range(groups)
        for rank in range(ranks)
    )
    return page_results.result(
        f"""name: "training"
        services {{ name: "{service}" x_size: {ranks} y_size: {groups} }}
        actions {{ name: "all_reduce" record_iterations: true
          collective {{ operation: "all_reduce" algorithm: "ring" size: 65536 }}
        }}""",
        logs,
        f"placement {{ {endpoints} }} run_info {{ {run_info} }}",
    )


class CollectivesPageTest(approved_pictures.PicturesTest):
    folder_of_test = "distbench/products/collectives"
    names = ("collectives",)

    def test_a_slow_rank_is_named_and_marked(self):
        page = self.open_text(collective(8, 5))
        self.assertIn(
            "rank/5/0 is the last to begin in 100 % of the iterations, on average "
            "4",
            self.text_of(page, "collectives-sentence"),
        )
        late = self.points(page, "collectives-chart", "last to begin")
        self.assertEqual([x for x, _ in late], [5])
        begins = self.points(page, "collectives-chart", "begins")
        self.assertEqual([x for x, _ in begins], list(range(8)))
        self.assertEqual(max(begins, key=lambda point: point[1]), late[0])
        self.check(page, "collectives", "#collectives")
        page.close()

    def test_figures_are_those_of_the_data(self):
        result = self.write("result.pb", collective(8, 5))
        page = self.open_results(result)
        part = json.loads(
            self.distbench("report", result, "--format=json").out
        )["tests"][0]["collectives"]
        group = dict(zip(part["groups"]["columns"], part["groups"]["rows"][0]))
        cells = [self.column(page, "collectives-table", i)[0] for i in range(12)]
        self.assertEqual(cells[:6], ["all_reduce", "rank/*/0",
                                     "all_reduce by ring", "64 KiB", "8", "40"])
        self.assertEqual(cells[6], f"{group['time_ns'] / 1e6:.3g} ms")
        self.assertEqual(cells[7], f"{group['algorithm_bandwidth'] / 1e9:.3g}")
        self.assertEqual(cells[8], f"{group['bus_bandwidth'] / 1e9:.3g}")
        self.assertEqual(
            cells[10],
            f"{group['begin_spread_p50_ns'] / 1e6:.3g} ms\nrank/5/0: 100 %",
        )
        ranks = [
            dict(zip(part["ranks"]["columns"], row)) for row in part["ranks"]["rows"]
        ]
        for label, key in (
            ("begins", "begins_later_ns"),
            ("ends (hollow)", "ends_later_ns"),
        ):
            self.assertEqual(
                [y for _, y in self.points(page, "collectives-chart", label)],
                [rank[key] for rank in ranks],
            )
        page.close()

    def test_at_first_the_ranks_of_the_group_that_waits_most(self):
        page = self.open_text(collective(8, 5, groups=64))
        self.assertEqual(len(self.column(page, "collectives-table", 0)), 64)
        self.assertIn("rank/5/0", self.text_of(page, "collectives-sentence"))
        self.choose(page, "#collectives-controls select", "63")
        self.assertIn("/63 is the last", self.text_of(page, "collectives-sentence"))
        page.close()

    def test_many_groups_are_those_that_take_longest(self):
        page = self.open_text(collective(2, 1, groups=300))
        self.assertEqual(len(self.column(page, "collectives-table", 0)), 200)
        self.assertIn(
            "100 groups that take less time are not in this table",
            self.text_of(page, "collectives-note"),
        )
        page.close()

    def test_many_ranks_are_marks_and_a_short_table(self):
        page = self.open_text(collective(4096, 1234))
        begins = self.points(page, "collectives-chart", "begins")
        self.assertEqual(len(begins), 4096)
        self.assertTrue(
            page.evaluate(f"{report_page.IS_DRAWN}('collectives-chart')")
        )
        self.open_details(page)
        names = self.column(page, "collectives-ranks-table", 0)
        self.assertEqual((names[0], len(names)), ("rank/1234/0", 100))
        self.assertIn(
            "100 of 4,096 ranks", self.text_of(page, "collectives-ranks-note")
        )
        page.close()

    def test_clocks_that_differ_more_are_said(self):
        def offsets(error_ns):
            return "".join(
                f'clock_offsets {{ key: "node{rank}" value {{ '
                f"error_ns: {error_ns} }} }}"
                for rank in range(8)
            )

        page = self.open_text(collective(8, 5, run_info=offsets(100)))
        self.assertIn(
            "may differ by 200 ns.", self.text_of(page, "collectives-sentence")
        )
        page.close()
        page = self.open_text(collective(8, 5, run_info=offsets(3 * MS)))
        self.assertIn(
            "may differ by 6 ms: too much to say who is late",
            self.text_of(page, "collectives-sentence"),
        )
        page.close()

    def test_iterations_that_did_not_finish(self):
        page = self.open_text(collective(4, 1, more="unfinished_count: 2"))
        self.assertEqual(
            self.column(page, "collectives-table", 5), ["40 (8 unfinished)"]
        )
        page.close()

    def test_names_stay_text(self):
        # Names of services have no such characters, those of actions may.
        text = collective(4, 1).replace(
            '"all_reduce" record', f'"{report_page.HOSTILE}" record'
        ).replace('key: "all_reduce"', f'key: "{report_page.HOSTILE}"')
        page = self.open_text(text)
        self.assertEqual(self.count(page, "img"), 0)
        self.assertIn("onerror", self.column(page, "collectives-table", 0)[0])
        page.close()

    def test_a_phone_scrolls_the_table_alone(self):
        page = self.open_text(collective(8, 5), size=(360, 740))
        self.wait_for_narrow_charts(page)
        self.assertLessEqual(
            page.evaluate("document.documentElement.scrollWidth"), 360
        )
        page.close()

    def test_other_tests_have_no_section(self):
        page = self.open_text(page_results.simple())
        self.assertTrue(self.is_hidden(page, "collectives"))
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.check_that_all_are_compared()


if __name__ == "__main__":
    testing_main.main()
