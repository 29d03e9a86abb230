# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Experiments on the page in a real browser. Skipped if there is no chromium."""

import os

from tests import report_page
from tests import testing_main
from tests.pictures import approved_pictures

MAKE_EXPERIMENT = os.path.abspath(
    "distbench/products/protection/measures/testing/make_example_experiment"
)

CHARTS = (
    "protection-goodput-chart",
    "protection-latency-chart",
    "protection-work-chart",
    "protection-cpu-chart",
    "protection-memory-chart",
    "protection-pressure-chart",
)


class ProtectionPageTest(report_page.ReportPageTest):
    def test_experiments_are_shown(self):
        result = self.path("experiment.pb.gz")
        outcome = self.run_to_end(MAKE_EXPERIMENT, result)
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_report(result)
        table = self.text_of(page, "protection-table")
        for text in ("hog", "burner", "none", "51 %", "80 of 100"):
            self.assertIn(text, table)
        # At first, the timeline is that of a cell with an antagonist.
        for chart in CHARTS:
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

    def test_without_an_experiment_there_is_no_such_section(self):
        page = self.open_report(self.write("nothing.pb", "test_results {}"))
        self.assertTrue(self.is_hidden(page, "protection"))
        page.close()


class ProtectionPictureTest(approved_pictures.PicturesTest):
    folder_of_test = "distbench/products/protection"
    names = ("protection",)

    def test_protection(self):
        result = self.path("experiment.pb.gz")
        outcome = self.run_to_end(MAKE_EXPERIMENT, result)
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_results(result)
        goodput = "#protection-timeline figure"
        self.check(page, "protection", "#protection h2", goodput)
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.check_that_all_are_compared()


if __name__ == "__main__":
    testing_main.main()
