"""Compares pictures of pages with approved ones. Skipped if Chromium or the font
of the pictures is missing."""

import os
import unittest

from tests import page_results
from tests import report_page
from tests import testing_main
from tests.pictures import comparison
from tests.pictures import examples

FOLDER = os.path.abspath("tests/pictures")
APPROVED = os.path.join(FOLDER, "approved")
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
MAKE_EXPERIMENT = os.path.abspath(
    "distbench/report/testing/make_example_experiment"
)
MAKE_BLAMED = os.path.abspath(
    "distbench/products/blame/testing/make_blamed_result"
)

NAMES = (
    "blame",
    "comparison",
    "comparison_curves",
    "front",
    "latency",
    "latency_dark",
    "latency_on_paper",
    "latency_on_phone",
    "numa",
    "over_time",
    "protection",
    "repeats",
    "search",
    "sweep",
    "three_tiers",
    "two_latencies",
)

WIDE = (832, 1000)
PHONE = (360, 740)

# The smallest box around elements, and all that is between the first and last.
BOX = """((...selectors) => {
  const boxes = selectors.map(
      selector => document.querySelector(selector).getBoundingClientRect());
  const left = Math.floor(Math.min(...boxes.map(box => box.left)));
  const top = Math.floor(Math.min(...boxes.map(box => box.top)));
  const right = Math.ceil(Math.max(...boxes.map(box => box.right)));
  const bottom = Math.ceil(Math.max(...boxes.map(box => box.bottom)));
  return [left + scrollX, top + scrollY, right - left, bottom - top];
})"""


@unittest.skipUnless(
    os.path.exists(FONT),
    "fonts-dejavu-core is not installed (scripts/install_deps.sh --with-browser)",
)
class PicturesTest(report_page.ReportPageTest):
    def open_picture(self, file, size=WIDE, **page_arguments):
        fonts = {
            "FONTCONFIG_FILE": os.path.join(FOLDER, "fonts.conf"),
            "XDG_CACHE_HOME": self.path("cache"),
        }
        return self.open_page(
            file, size=size, environment=fonts, **page_arguments
        )

    def open_results(self, *results, **page_arguments):
        file = self.path("report.html")
        outcome = self.distbench(
            "report", *results, "--format=html", "-o", file
        )
        self.assertIn(outcome.status, (0, 3), outcome)
        return self.open_picture(file, **page_arguments)

    def open_text(self, text, **page_arguments):
        return self.open_results(
            self.write("result.pb", text), **page_arguments
        )

    def small_open_loop(self, **page_arguments):
        return self.open_results(
            self.example("one", 3, 4, 2, 20, 50), **page_arguments
        )

    def picture(self, page, *selectors):
        return page.picture(*page.evaluate(f"{BOX}(...{list(selectors)})"))

    def keep(self, name, picture):
        """Writes a picture where the test's outputs are kept."""
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", self.folder)
        with open(os.path.join(folder, f"{name}.png"), "wb") as file:
            file.write(picture)

    def check(self, page, name, *selectors):
        """Compares the part of the page around the elements with the approved
        picture of this name."""
        with self.subTest(name):
            self.compare(name, page, self.picture(page, *selectors))

    def compare(self, name, page, actual):
        self.assertIn(name, NAMES)
        try:
            with open(os.path.join(APPROVED, f"{name}.png"), "rb") as file:
                expected = file.read()
        except FileNotFoundError:
            self.keep(f"{name}.actual", actual)
            self.fail(f"{name} was never approved; see tests/pictures/approve")
        difference = comparison.Difference(page, expected, actual)
        if difference.text == "":
            return
        self.keep(f"{name}.expected", expected)
        self.keep(f"{name}.actual", actual)
        if difference.picture:
            self.keep(f"{name}.difference", difference.picture)
        self.fail(
            f"{name} is not as approved: {difference.text}. The test's outputs "
            f"have {name}.expected.png, {name}.actual.png and, marked in red, "
            f"{name}.difference.png. If it is meant to look so, run "
            f"tests/pictures/approve {name}"
        )

    def test_small_open_loop(self):
        page = self.small_open_loop()
        self.check(page, "front", "header", "#topology")
        self.check(page, "latency", "#controls", "#latency")
        self.check(page, "over_time", "#over-time")
        page.close()

    def test_dark(self):
        page = self.small_open_loop(dark=True)
        self.check(page, "latency_dark", "#latency")
        page.close()

    def test_phone(self):
        page = self.small_open_loop(size=PHONE)
        self.check(page, "latency_on_phone", "#controls", "#latency")
        page.close()

    def test_paper(self):
        page = self.small_open_loop(dark=True)
        page.print_colors()
        self.check(page, "latency_on_paper", "#latency")
        page.close()

    def test_three_tiers(self):
        page = self.open_text(page_results.TIERS, size=(1280, 1000))
        self.check(page, "three_tiers", "#topology")
        page.close()

    def test_two_latencies(self):
        start_s = page_results.START_S
        tiers = {
            "front": [page_results.sample(start_s, 500, 100)] * 3,
            "middle": [page_results.sample(start_s, 200)] * 3,
            "unused": [],
        }
        page = self.open_text(page_results.run("tiers", tiers))
        self.check(page, "two_latencies", "#controls", "#latency")
        page.close()

    def test_sweep(self):
        page = self.open_text(page_results.sweep())
        self.check(page, "sweep", "#sweep")
        page.close()

    def test_search(self):
        page = self.open_text(page_results.TIERS + examples.search())
        self.check(page, "search", "#search")
        page.close()

    def test_numa(self):
        page = self.open_text(page_results.TIERS + examples.numa())
        self.check(page, "numa", "#numa")
        page.close()

    def test_protection(self):
        result = self.path("experiment.pb.gz")
        outcome = self.run_to_end(MAKE_EXPERIMENT, result)
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_results(result)
        goodput = "#protection-timeline figure"
        self.check(page, "protection", "#protection h2", goodput)
        page.close()

    def test_repeats(self):
        page = self.open_results(
            self.write("base.pb", page_results.repeats(range(100, 500, 2))),
            self.write("new.pb", page_results.repeats(range(300, 700, 2))),
        )
        self.check(page, "repeats", "#controls", "#latency")
        page.close()

    def test_blame(self):
        result = self.path("blamed.pb.gz")
        outcome = self.run_to_end(MAKE_BLAMED, result, "blamed")
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_results(result)
        self.check(page, "blame", "#blame h2", "#blame-bars")
        page.close()

    def test_comparison(self):
        file = self.path("comparison.html")
        outcome = self.distbench(
            "compare",
            self.side("base", 1, runs=5),
            self.side("new", 1.5, runs=5),
            "--format=html",
            "-o",
            file,
        )
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_picture(file)
        self.check(page, "comparison", "#verdict", "#changes")
        self.check(page, "comparison_curves", "#curves h2", "#curves .charts")
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.assertEqual(
            sorted(os.listdir(APPROVED)),
            [f"{name}.png" for name in sorted(NAMES)],
        )

    # Faults that a comparison must catch: statements that break a page.
    FAULTS = {
        "a missing legend": "byId('latency-legend').replaceChildren()",
        "a missing entry of a legend": (
            "document.querySelector('#latency-legend button').remove()"
        ),
        "a moved column": (
            "for (const {cells: [, , third, fourth]} of"
            " document.querySelectorAll('#latency-table tr'))"
            " fourth.after(third)"
        ),
        "another colour of a curve": (
            "const chart = Chart.getChart('percentile-chart');"
            "chart.data.datasets[0].borderColor = '#c2337a';"
            "chart.update('none')"
        ),
        "a missing curve": (
            "const chart = Chart.getChart('percentile-chart');"
            "chart.data.datasets.pop();"
            "chart.update('none')"
        ),
        "another percentage": (
            "document.querySelector('#latency-table tbody tr')"
            ".cells[4].textContent = '1 ms'"
        ),
    }

    def test_broken_pages_are_caught(self):
        page = self.small_open_loop()
        whole = self.picture(page, "#latency")
        again = self.picture(page, "#latency")
        self.assertEqual(comparison.Difference(page, whole, again).text, "")
        page.close()
        for fault, statements in self.FAULTS.items():
            with self.subTest(fault):
                page = self.small_open_loop()
                statements = statements.replace(
                    "byId", "document.getElementById.bind(document)"
                )
                page.evaluate(f"(() => {{ {statements} }})()")
                difference = comparison.Difference(
                    page, whole, self.picture(page, "#latency")
                )
                self.assertNotEqual(difference.text, "")
                page.close()

    def test_a_pixel_is_tolerated_and_three_are_not(self):
        page = self.small_open_loop()
        x, y, width, height = page.evaluate(f"{BOX}('#latency')")
        whole = page.picture(x, y, width, height)
        for pixels, is_same in ((1, True), (3, False)):
            moved = page.picture(x + pixels, y + pixels, width, height)
            text = comparison.Difference(page, whole, moved).text
            self.assertEqual(text == "", is_same, text)
        page.close()


if __name__ == "__main__":
    testing_main.main()
