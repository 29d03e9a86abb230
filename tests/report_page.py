"""What tests of HTML reports share: a report in a real browser."""

import os
import unittest

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

    def open_report(self, *results, status=0, **page_arguments):
        """status: the exit status of the report."""
        report = self.path("report.html")
        outcome = self.distbench(
            "report", *results, "--format=html", "-o", report
        )
        self.assertEqual(outcome.status, status, outcome)
        return self.open_page(report, **page_arguments)

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

    def open_details(self, page):
        """Unfolds everything that is folded."""
        page.evaluate(
            "document.querySelectorAll('details')"
            ".forEach(details => { details.open = true; })"
        )
