# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench report` says who is to blame for the tail: as text and as JSON."""

import json
import os
import unittest

from tests import programs
from tests import report_schema
from tests import testing_main

MAKE_EXAMPLE = os.path.abspath("distbench/report/testing/make_example_result")
MAKE_BLAMED = os.path.abspath(
    "distbench/products/blame/testing/make_blamed_result"
)

INVALID_RESULT = """
test_results {
  traffic_config { name: "example" }
  run_info { findings { severity: INVALID message: "sent too late" } }
}
"""


class BlameTest(programs.ProgramTest):
    def blamed(self):
        result = self.path("blamed.pb.gz")
        outcome = self.run_to_end(MAKE_BLAMED, result, "slow")
        self.assertEqual(outcome.status, 0, outcome)
        return result

    def test_blame_names_the_slow_leaf(self):
        outcome = self.distbench("report", self.blamed(), "--format=blame")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(
            "Test: slow\nBlame: queryslow, service time\n", outcome.out
        )
        self.assertIn("\n  - leaf/3 is a straggler: ", outcome.out)
        words = " ".join(outcome.out.split())
        self.assertIn(
            "of the difference is the handler of lookupslow.", words
        )
        self.assertRegex(
            words,
            r"If leaf/3 answered lookupslow as fast as the other instances, "
            r"p99 would be [12]\.\d+ ms ",
        )

    def test_blame_says_how_to_get_traces(self):
        example = self.path("a.pb.gz")
        self.run_to_end(MAKE_EXAMPLE, example, "example", "2", "3", "2", "20", "50")
        outcome = self.distbench("report", example, "--format=blame")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("tracing_interval", outcome.out)

    def test_invalid_results_exit_3(self):
        result = self.write("invalid.pb", INVALID_RESULT)
        outcome = self.distbench("report", result, "--format=blame")
        self.assertEqual(outcome.status, 3, outcome)

    @unittest.skipUnless(report_schema.jsonschema, "needs python3-jsonschema")
    def test_reports_have_no_member_that_the_schema_lacks(self):
        outcome = self.distbench("report", self.blamed(), "--format=json")
        self.assertEqual(report_schema.errors_of(json.loads(outcome.out)), [])


if __name__ == "__main__":
    testing_main.main()
