"""The HTML report in a real browser. Skipped if there is no chromium."""

import os

from tests import report_page
from tests import testing_main

IS_DRAWN = report_page.IS_DRAWN
HOSTILE = report_page.HOSTILE

MAKE_EXPERIMENT = os.path.abspath(
    "distbench/report/testing/make_example_experiment"
)
MAKE_BLAMED = os.path.abspath(
    "distbench/products/blame/testing/make_blamed_result"
)

# A result of another or older tool: no series, resources or run_info.
OLD_RESULT = """
test_results {
  traffic_config { name: "old" rpc_descriptions { name: "query" } }
  service_logs { instance_logs { key: "c/0" value { peer_logs {
    key: "s/0" value { rpc_logs { key: 0 value {
      successful_rpc_samples { start_timestamp_ns: 1000 latency_ns: 2000 }
      successful_rpc_samples { start_timestamp_ns: 1500 latency_ns: 3000 }
    } } }
  } } } }
}
"""

CHARTS = (
    "percentile-chart",
    "cdf-chart",
    "rate-chart",
    "latency-over-time-chart",
    "heat-map-canvas",
    "cpu-chart",
    "memory-chart",
)

PROTECTION_CHARTS = (
    "protection-goodput-chart",
    "protection-latency-chart",
    "protection-work-chart",
    "protection-cpu-chart",
    "protection-memory-chart",
    "protection-pressure-chart",
)


class HtmlReportTest(report_page.ReportPageTest):
    def test_everything_is_drawn(self):
        results = [
            self.example("base", 3, 4, 2, 20, 50),
            self.example("new", 3, 4, 2, 20, 50, 1.5),
        ]
        for dark in (False, True):
            with self.subTest(dark=dark):
                page = self.open_report(*results, dark=dark)
                for chart in CHARTS:
                    self.assertTrue(
                        page.evaluate(f"{report_page.IS_DRAWN}('{chart}')"), chart
                    )
                self.assertIn(
                    "This result was made up.", self.text_of(page, "findings")
                )
                table = self.text_of(page, "latency-table")
                for text in (
                    "base",
                    "new",
                    "rpc_0",
                    "rpc_1",
                    "p99.9",
                    "12,000",
                ):
                    self.assertIn(text, table)
                self.assertEqual(
                    self.text_of(page, "latency-legend").count("rpc_"), 4
                )
                self.open_details(page)
                self.assertIn("Example CPU", self.text_of(page, "nodes-table"))
                self.assertIn("4,321", self.text_of(page, "connections-table"))
                page.close()

    def test_choices_change_what_is_drawn(self):
        page = self.open_report(self.example("one", 3, 4, 2, 20, 50))
        page.evaluate("document.querySelector('input[name=rpc]').click()")
        self.assertNotIn("rpc_0", self.text_of(page, "latency-table"))
        before = self.text_of(page, "latency-table")
        page.evaluate(
            "document.querySelectorAll('input[name=latency]')[2].click()"
        )
        self.assertNotEqual(self.text_of(page, "latency-table"), before)
        for metric in ("per_second", "p50", "max", "failed"):
            page.evaluate(
                f"""(box => {{ box.value = '{metric}';
                box.dispatchEvent(new Event('change')); }})(
                document.querySelector(
                    '#peers-controls label:last-child select'))"""
            )
            self.assertTrue(
                page.evaluate(f"{report_page.IS_DRAWN}('heat-map-canvas')"), metric
            )
        # With nothing selected there is nothing to draw, and no error.
        page.evaluate("document.querySelectorAll('input[name=rpc]')[1].click()")
        page.evaluate(
            "document.querySelectorAll('input[name=latency]')[0].click()"
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_more_curves_than_colours_is_said(self):
        page = self.open_report(self.example("many", 2, 2, 10, 5, 20))
        page.evaluate(
            "document.querySelectorAll('input[name=rpc]')"
            ".forEach(box => box.checked || box.click())"
        )
        self.assertIn("8 of 10", self.text_of(page, "selection-note"))
        page.close()

    def test_result_without_anything_new_is_shown(self):
        page = self.open_report(self.write("old.pb", OLD_RESULT))
        self.assertTrue(page.evaluate(f"{report_page.IS_DRAWN}('cdf-chart')"))
        self.assertTrue(
            page.evaluate("document.getElementById('protection').hidden")
        )
        self.assertTrue(
            page.evaluate("document.getElementById('over-time').hidden")
        )
        self.assertIn("2.5 µs", self.text_of(page, "latency-table"))
        self.assertTrue(
            page.evaluate("document.getElementById('time-parts').hidden")
        )
        page.close()

    def test_time_parts_are_shown(self):
        result = OLD_RESULT.replace(
            "latency_ns: 3000",
            "latency_ns: 3000 server_queue_ns: 100 server_handler_ns: 900",
        )
        page = self.open_report(self.write("timed.pb", result))
        table = self.text_of(page, "time-parts-table")
        for text in (
            "network and stacks",
            "2 µs",
            "server: queue",
            "100 ns",
            "server: handler",
            "900 ns",
        ):
            self.assertIn(text, table)
        page.close()

    def test_who_is_to_blame_is_shown(self):
        result = self.path("blamed.pb.gz")
        # It is part of all RPCs' names.
        name = HOSTILE.replace("\\", "")
        outcome = self.run_to_end(MAKE_BLAMED, result, name)
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_report(result)
        self.assertTrue(page.evaluate(f"{IS_DRAWN}('blame-chart')"))
        sentences = self.text_of(page, "blame-sentences")
        self.assertIn("leaf/3 is a straggler", sentences)
        self.assertIn(name, sentences)
        tables = self.text_of(page, "blame-tables")
        for text in (
            f"lookup{name}: server: handler, leaf/3",
            f"leaf/3 answered lookup{name} as fast as",
            "Who is last",
        ):
            self.assertIn(text, tables)
        self.assertIn(name, self.text_of(page, "blame-legend"))
        self.assertIn("2,000 complete traces", self.text_of(page, "blame-note"))
        self.assertEqual(page.evaluate("document.images.length"), 0)
        page.close()

    def test_without_traces_it_is_said_how_to_get_them(self):
        page = self.open_report(self.write("old.pb", OLD_RESULT))
        self.assertIn("tracing_interval", self.text_of(page, "blame-note"))
        self.assertTrue(
            page.evaluate("document.getElementById('blame-bars').hidden")
        )
        page.close()

    def test_experiments_are_shown(self):
        result = self.path("experiment.pb.gz")
        outcome = self.run_to_end(MAKE_EXPERIMENT, result)
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_report(result)
        table = self.text_of(page, "protection-table")
        for text in ("hog", "burner", "none", "51 %", "80 of 100"):
            self.assertIn(text, table)
        # At first, the timeline is that of a cell with an antagonist.
        for chart in PROTECTION_CHARTS:
            self.assertTrue(page.evaluate(f"{report_page.IS_DRAWN}('{chart}')"), chart)
        self.assertIn("run 3", self.text_of(page, "protection-runs-legend"))
        # The cell without one has no work of it to show.
        page.evaluate(
            """(box => { box.value = '0';
            box.dispatchEvent(new Event('change')); })(
            document.querySelector('#protection-controls select'))"""
        )
        self.assertTrue(
            page.evaluate(
                "document.getElementById('protection-work-chart')"
                ".closest('figure').hidden"
            )
        )
        self.assertEqual(page.complaints, [])
        page.close()

    def test_seconds_that_are_left_out_are_said(self):
        result = self.path("experiment.pb.gz")
        outcome = self.run_to_end(MAKE_EXPERIMENT, result)
        self.assertEqual(outcome.status, 0, outcome)
        self.open_report(result).close()
        with open(self.path("report.html"), encoding="utf-8") as file:
            html = file.read()
        nothing = '"rows_left_out":0'
        self.assertIn(nothing, html)
        # Pages leave out seconds of experiments that are too long for a test.
        shortened = self.write(
            "shortened.html", html.replace(nothing, '"rows_left_out":7')
        )
        page = self.open_page(shortened)
        self.assertIn("lack 7 seconds", self.text_of(page, "protection-omissions"))
        page.close()

    def test_result_without_anything_at_all_is_shown(self):
        page = self.open_report(self.write("nothing.pb", "test_results {}"))
        self.assertIn("tests[0]", self.text_of(page, "title"))
        page.close()

    def test_names_stay_text(self):
        result = OLD_RESULT.replace('"old"', f'"{HOSTILE}"').replace(
            '"query"', f'"{HOSTILE}"'
        )
        page = self.open_report(self.write("hostile.pb", result))
        self.open_details(page)
        self.assertIn("<img src=x", self.text_of(page, "runs-table"))
        self.assertEqual(page.evaluate("document.images.length"), 0)
        self.assertNotEqual(page.evaluate("document.title"), "broken")
        page.close()


if __name__ == "__main__":
    testing_main.main()
