# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What the gallery lists is there, and its results make pages."""

import os

from docs.gallery import entries
from tests import programs
from tests import testing_main

FOLDER = os.path.abspath("docs/gallery")
MAX_BYTES = 200_000


class GalleryTest(programs.ProgramTest):
    def test_readme_is_that_of_the_entries(self):
        with open(f"{FOLDER}/README.md", encoding="utf-8") as file:
            self.assertEqual(file.read(), entries.readme())

    def test_nothing_is_missing_or_left_over(self):
        self.assertEqual(
            sorted(os.listdir(f"{FOLDER}/pictures")),
            sorted(f"{entry.name}.png" for entry in entries.ENTRIES),
        )
        self.assertEqual(
            sorted(os.listdir(f"{FOLDER}/results")),
            sorted(
                name for entry in entries.ENTRIES for name in entry.results
            ),
        )

    def test_files_are_small(self):
        for kind in ("pictures", "results"):
            for name in os.listdir(f"{FOLDER}/{kind}"):
                size = os.path.getsize(f"{FOLDER}/{kind}/{name}")
                self.assertLess(size, MAX_BYTES, name)

    def test_results_make_pages(self):
        page = self.path("page.html")
        for entry in entries.ENTRIES:
            with self.subTest(entry.name):
                outcome = self.distbench(
                    *entry.page_command,
                    "--format=html",
                    "-o",
                    page,
                    cwd=f"{FOLDER}/results",
                )
                self.assertIn(outcome.status, (0, 3), outcome)
                with open(page, encoding="utf-8") as file:
                    self.assertIn("</html>", file.read())
                os.remove(page)


if __name__ == "__main__":
    testing_main.main()
