# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Figures of servers on the page, in a real browser. Skipped if there is no
chromium."""

from tests import report_page
from tests import testing_main

import watched_runs

# A name that tries to become markup.
HOSTILE_QUERY = r'sum(a{b=\"</script><img src=x>\"})'


def watched(name, first_value):
    """Returns a run of 20 s in which a metric grew by a hundredth each second
    and was not read in the last one."""
    return watched_runs.watched(
        name,
        [first_value + i / 100 for i in range(19)],
        query=HOSTILE_QUERY,
        failed=1,
    )


class ServerMetricsPageTest(report_page.ReportPageTest):
    def test_metrics_are_drawn_over_time_for_each_run(self):
        page = self.open_text(watched("base", 0.2) + watched("new", 0.4))
        chart = "server-metric-chart-0"
        self.assertEqual(self.labels(page, chart), ["base", "new"])
        points = self.points(page, chart, "new")
        self.assertEqual(len(points), 19)
        self.assertAlmostEqual(points[0][0], 1)
        self.assertAlmostEqual(points[0][1], 0.4)
        self.assertAlmostEqual(points[-1][1], 0.58)

        table = "server-metrics-table"
        self.assertEqual(self.column(page, table, 0), ["cpu", "cpu"])
        self.assertEqual(self.column(page, table, 1), ["base", "new"])
        self.assertEqual(self.column(page, table, 7), ["1", "1"])
        self.assertEqual(self.column(page, table, 8), ["node0", "node0"])
        self.assertIn("</script><img src=x>", self.column(page, table, 9)[0])
        self.assertEqual(page.complaints, [])
        page.close()

    def test_the_table_has_the_mean_of_what_is_judged(self):
        page = self.open_text(watched("base", 0.2))
        shown = self.column(page, "server-metrics-table", 1)[0]
        self.assertAlmostEqual(float(shown.rstrip("% ")), 29, delta=1)
        page.close()

    def test_a_comparison_shows_changes_that_are_neither_better_nor_worse(self):
        base, new = (
            self.write(
                f"{name}.pb",
                watched_runs.steady(share, day=0)
                + watched_runs.steady(share + 0.01, day=1),
            )
            for name, share in (("base", 0.3), ("new", 0.6))
        )
        file = self.path("changes.html")
        outcome = self.distbench(
            "compare", base, new, "--format=html", "-o", file
        )
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_page(file)
        self.assertIn("differs", self.text_of(page, "headline"))
        changes = " ".join(self.text_of(page, "changes-list").split())
        self.assertIn("metrics of the test", changes)
        self.assertIn("metric:cpu differs 30.5 % 60.5 % +30.000 pp", changes)
        self.assertEqual(page.complaints, [])
        page.close()

    def test_runs_without_metrics_have_no_section(self):
        page = self.open_report(self.example("one", 2, 2, 1, 2, 20))
        self.assertTrue(self.is_hidden(page, "server-metrics"))
        page.close()


if __name__ == "__main__":
    testing_main.main()
