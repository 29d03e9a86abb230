# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Who is to blame for the tail, on the page in a real browser. Skipped if there is
no chromium."""

import os

from tests import report_page
from tests import testing_main
from tests.pictures import approved_pictures

MAKE_BLAMED = os.path.abspath(
    "distbench/products/blame/testing/make_blamed_result"
)

# A result of another or older tool, without traces.
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


class BlamePageTest(report_page.ReportPageTest):
    def test_who_is_to_blame_is_shown(self):
        result = self.path("blamed.pb.gz")
        # It is part of all RPCs' names.
        name = report_page.HOSTILE.replace("\\", "")
        outcome = self.run_to_end(MAKE_BLAMED, result, name)
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_report(result)
        self.assertTrue(page.evaluate(f"{report_page.IS_DRAWN}('blame-chart')"))
        sentences = self.text_of(page, "blame-sentences")
        self.assertIn("leaf/3 is a straggler", sentences)
        self.assertIn(name, sentences)
        tables = self.text_of(page, "blame-tables")
        for text in (
            f"lookup{name}: server: handler",
            f"leaf/3 answered lookup{name} as fast as",
            "Who is last",
        ):
            self.assertIn(text, tables)
        self.assertIn(name, self.text_of(page, "blame-legend"))
        self.assertIn("2,000 complete traces", self.text_of(page, "blame-note"))
        self.assertEqual(page.evaluate("document.images.length"), 0)
        page.close()

    def test_without_traces_there_is_no_section(self):
        page = self.open_report(self.write("old.pb", OLD_RESULT))
        self.assertTrue(self.is_hidden(page, "blame"))
        page.close()


class BlamePicturesTest(approved_pictures.PicturesTest):
    folder_of_test = "distbench/products/blame"
    names = ("blame",)

    def test_blame(self):
        result = self.path("blamed.pb.gz")
        outcome = self.run_to_end(MAKE_BLAMED, result, "blamed")
        self.assertEqual(outcome.status, 0, outcome)
        page = self.open_results(result)
        self.check(page, "blame", "#blame h2", "#blame-bars")
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.check_that_all_are_compared()


if __name__ == "__main__":
    testing_main.main()
