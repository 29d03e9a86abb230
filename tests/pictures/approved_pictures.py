# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What tests of pictures share: pages in the browser, compared with approved
pictures of them. Skipped if Chromium or the font of the pictures is missing."""

import os
import unittest

from tests import report_page
from tests.pictures import comparison

ROOT = os.path.abspath(".")
FONTS = os.path.join(ROOT, "tests/pictures/fonts.conf")
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

WIDE = (832, 1000)

# Moves the page up by less than a pixel, so that an element begins on a whole one: what
# the sections above it are, and so which products there are, does not change its picture.
ALIGN = """(selector => {
  const {style} = document.body;
  const top =
      document.querySelector(selector).getBoundingClientRect().top + scrollY;
  style.position = 'relative';
  style.top = `${parseFloat(style.top || '0') - (top - Math.floor(top))}px`;
})"""

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
    # The folder of the test, from the root, and the names of the pictures that are
    # in its folder approved/.
    folder_of_test = None
    names = ()

    def approved(self):
        return os.path.join(ROOT, self.folder_of_test, "approved")

    def open_picture(self, file, size=WIDE, **page_arguments):
        fonts = {
            "FONTCONFIG_FILE": FONTS,
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

    def picture(self, page, *selectors):
        page.evaluate(f"{ALIGN}({selectors[0]!r})")
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
        self.assertIn(name, self.names)
        try:
            with open(os.path.join(self.approved(), f"{name}.png"), "rb") as file:
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
            f"tests/pictures/approve --test={self.folder_of_test} {name}"
        )

    def check_that_all_are_compared(self):
        self.assertEqual(
            sorted(os.listdir(self.approved())),
            [f"{name}.png" for name in sorted(self.names)],
        )
