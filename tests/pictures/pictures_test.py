# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Compares pictures of pages with approved ones."""

from tests import page_results
from tests import testing_main
from tests.pictures import approved_pictures
from tests.pictures import comparison

PHONE = (360, 740)


class PicturesTest(approved_pictures.PicturesTest):
    folder_of_test = "tests/pictures"
    names = (
        "comparison",
        "comparison_curves",
        "front",
        "latency",
        "latency_dark",
        "latency_on_paper",
        "latency_on_phone",
        "over_time",
        "repeats",
        "sweep",
        "three_tiers",
        "two_latencies",
    )

    def small_open_loop(self, **page_arguments):
        return self.open_results(
            self.example("one", 3, 4, 2, 20, 50), **page_arguments
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

    def test_repeats(self):
        page = self.open_results(
            self.write("base.pb", page_results.repeats(range(100, 500, 2))),
            self.write("new.pb", page_results.repeats(range(300, 700, 2))),
        )
        self.check(page, "repeats", "#controls", "#latency")
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
        self.check_that_all_are_compared()

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
        x, y, width, height = page.evaluate(f"{approved_pictures.BOX}('#latency')")
        whole = page.picture(x, y, width, height)
        for pixels, is_same in ((1, True), (3, False)):
            moved = page.picture(x + pixels, y + pixels, width, height)
            text = comparison.Difference(page, whole, moved).text
            self.assertEqual(text == "", is_same, text)
        page.close()


if __name__ == "__main__":
    testing_main.main()
