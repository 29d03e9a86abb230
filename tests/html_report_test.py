# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The HTML report in a real browser. Skipped if there is no chromium."""

from tests import report_page
from tests import testing_main

HOSTILE = report_page.HOSTILE

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
        self.assertTrue(self.is_hidden(page, "over-time"))
        self.assertIn("2.5 µs", self.text_of(page, "latency-table"))
        self.assertTrue(self.is_hidden(page, "time-parts"))
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

    def test_wire_times_are_shown(self):
        result = OLD_RESULT.replace(
            "latency_ns: ", "wire_time_ns: 1200 latency_ns: "
        )
        page = self.open_report(self.write("stamped.pb", result))
        self.assertIn("wire time", self.text_of(page, "controls"))
        self.assertIn(
            "p50 of the wire time: 1.2 µs", self.text_of(page, "headline-parts")
        )
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
