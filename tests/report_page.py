# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What tests of HTML reports share: a report in a real browser."""

import os
import unittest
import urllib.parse

from tests import browser
from tests import programs

MAKE_EXAMPLE = os.path.abspath("distbench/report/testing/make_example_result")

# A name, as it stands in a text proto.
HOSTILE = '</script><img src=x onerror=\\"document.title = \'broken\'\\">'

# Tells whether a line was drawn: enough pixels of a canvas have a colour,
# unlike grid and labels, which are grey.
IS_DRAWN = """(id => {
  const canvas = document.getElementById(id);
  if (canvas.width === 0 || canvas.height === 0) return false;
  const {data} = canvas.getContext('2d').getImageData(
      0, 0, canvas.width, canvas.height);
  let coloured = 0;
  for (let i = 0; i < data.length; i += 4) {
    const pixel = [data[i], data[i + 1], data[i + 2]];
    const range = Math.max(...pixel) - Math.min(...pixel);
    if (data[i + 3] > 128 && range > 60) ++coloured;
  }
  return coloured > 100;
})"""

CHARTS_WITH_LEGENDS = (
    "percentile-chart",
    "cdf-chart",
    "rate-chart",
    "latency-over-time-chart",
    "cpu-chart",
    "memory-chart",
)

# The labels of what a chart draws, without what is hidden.
LINES = """(id => {
  const chart = Chart.getChart(id);
  return chart.data.datasets.filter((_, i) => chart.isDatasetVisible(i))
      .map(dataset => dataset.label);
})"""

# The points of a line of a chart: pairs of x and y.
POINTS = """((id, label) => Chart.getChart(id).data.datasets
    .find(dataset => dataset.label === label).data.map(({x, y}) => [x, y]))"""

# [min, max] of the x axis of a chart.
X_RANGE = """(id => {
  const {min, max} = Chart.getChart(id).scales.x;
  return [min, max];
})"""

# Each cell of a column of a table, by the id of its box.
COLUMN = """((id, column) =>
    [...document.getElementById(id).querySelectorAll('tbody tr')]
        .filter(row => !row.hidden).map(row => row.cells[column].innerText))"""


@unittest.skipUnless(
    browser.CHROMIUM,
    "chromium is not installed (scripts/install_deps.sh --with-browser)",
)
class ReportPageTest(programs.ProgramTest):
    def example(self, name, *size):
        path = self.path(f"{name}.pb.gz")
        outcome = self.run_to_end(MAKE_EXAMPLE, path, name, *map(str, size))
        self.assertEqual(outcome.status, 0, outcome)
        return path

    def side(self, name, slowness, runs=2):
        """A directory with runs of a test."""
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        for run in range(runs):
            path = os.path.join(folder, f"{run}.pb.gz")
            size = map(str, (2, 3, 2, 20, 50, slowness * (1 + run / 100)))
            outcome = self.run_to_end(MAKE_EXAMPLE, path, "example", *size)
            self.assertEqual(outcome.status, 0, outcome)
        return folder

    def open_report(self, *results, status=0, **page_arguments):
        """status: the exit status of the report."""
        report = self.path("report.html")
        outcome = self.distbench(
            "report", *results, "--format=html", "-o", report
        )
        self.assertEqual(outcome.status, status, outcome)
        return self.open_page(report, **page_arguments)

    def open_text(self, text, name="result.pb", **report_arguments):
        """Opens the report of a result that is text."""
        return self.open_report(self.write(name, text), **report_arguments)

    def count(self, page, selector):
        return page.evaluate(
            f"document.querySelectorAll('{selector}').length"
        )

    def open_page(self, report, fragment="", **page_arguments):
        page = browser.Page(
            self, f"file://{report}{fragment}", **page_arguments
        )
        page.wait_until(
            "document.body && document.body.dataset.rendered === 'true'"
        )
        self.assertEqual(page.complaints, [])
        # The page makes no other requests.
        self.assertEqual(page.requests, [f"file://{report}"])
        return page

    def text_of(self, page, element):
        return page.evaluate(f"document.getElementById('{element}').innerText")

    def is_hidden(self, page, element):
        return page.evaluate(f"document.getElementById('{element}').hidden")

    def badges(self, page):
        """The texts and classes of the verdicts at the top."""
        return page.evaluate(
            "[...document.querySelectorAll('#headline .verdict .badge')]"
            ".map(badge => `${badge.textContent}: ${badge.className}`)"
        )

    def open_details(self, page):
        """Unfolds everything that is folded."""
        page.evaluate(
            "document.querySelectorAll('details')"
            ".forEach(details => { details.open = true; })"
        )

    def wait_for_narrow_charts(self, page):
        """Waits until all charts have followed the window of a phone, each a
        moment later."""
        page.wait_until(
            "innerWidth === 360 && Object.values(Chart.instances)"
            ".every(chart => chart.width <= 360)"
        )

    def labels(self, page, chart):
        return page.evaluate(f"{LINES}('{chart}')")

    def points(self, page, chart, label):
        return page.evaluate(f"{POINTS}('{chart}', '{label}')")

    def x_range(self, page, chart):
        return page.evaluate(f"{X_RANGE}('{chart}')")

    def column(self, page, table, column):
        return page.evaluate(f"{COLUMN}('{table}', {column})")

    def choose(self, page, selector, value):
        page.evaluate(
            f"""(box => {{ box.value = '{value}';
            box.dispatchEvent(new Event('change')); }})(
            document.querySelector('{selector}'))"""
        )

    def fragment(self, page):
        return urllib.parse.parse_qs(page.evaluate("location.hash.slice(1)"))

    def drag_on(self, page, chart, from_share, to_share):
        """Drags over a part of the x axis of a chart."""
        left, right, y = page.evaluate(
            f"""(canvas => {{
              canvas.scrollIntoView({{block: 'center'}});
              const box = canvas.getBoundingClientRect();
              const {{left, right}} = Chart.getChart(canvas).chartArea;
              return [box.left + left, box.left + right,
                      box.top + box.height / 2];
            }})(document.getElementById('{chart}'))"""
        )
        page.drag(
            y,
            left + from_share * (right - left),
            left + to_share * (right - left),
        )
