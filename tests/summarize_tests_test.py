# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The count that scripts/test.sh prints last must include every failure."""

import contextlib
import io
import json
import os
import tempfile
import unittest

from scripts import summarize_tests
from tests import testing_main

TWO_PASSED = (
    "<testsuites><testsuite>"
    '<testcase name="A"/><testcase name="B"/>'
    "</testsuite></testsuites>"
)
ONE_FAILED = (
    "<testsuites><testsuite>"
    '<testcase classname="Suite" name="A"/>'
    '<testcase classname="Suite" name="B"><failure/></testcase>'
    "</testsuite></testsuites>"
)
SKIPPED = (
    "<testsuites><testsuite>"
    '<testcase name="A"/><testcase name="B" result="skipped"/>'
    '<testcase name="C" status="notrun"/>'
    '<testcase name="D"><skipped/></testcase>'
    '<testcase name="E"><skipped>no ip\nhere</skipped></testcase>'
    "</testsuite></testsuites>"
)
# As googletest writes it.
SKIPPED_IN_CC = (
    '<testsuites><testsuite><testcase name="F" result="skipped">'
    '<skipped message="a/b_test.cc:58&#x0A;no NUMA">'
    "<![CDATA[a/b_test.cc:58\nno NUMA]]></skipped>"
    "</testcase></testsuite></testsuites>"
)


class SummarizeTestsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.events = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def add_result(self, label, status="PASSED", xml=None, attempt=1, shard=1):
        outputs = [{"name": "test.log", "uri": "file:///log"}]
        if xml is not None:
            path = self.path(f"test {len(self.events)}.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(xml)
            outputs.append(
                {
                    "name": "test.xml",
                    "uri": "file://" + path.replace(" ", "%20"),
                }
            )
        self.events.append(
            {
                "id": {
                    "testResult": {
                        "label": label,
                        "run": 1,
                        "shard": shard,
                        "attempt": attempt,
                    }
                },
                "testResult": {"status": status, "testActionOutput": outputs},
            }
        )

    def add_target(self, label, built):
        self.events.append(
            {
                "id": {"targetCompleted": {"label": label}},
                "completed": {"success": True} if built else {},
            }
        )

    def summarize(self, bazel_status, *failed_checks):
        """Returns (exit status, printed lines)."""
        events_path = self.path("events.json")
        with open(events_path, "w", encoding="utf-8") as file:
            for event in self.events:
                file.write(json.dumps(event) + "\n")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = summarize_tests.main(
                [events_path, str(bazel_status), *failed_checks]
            )
        return status, output.getvalue().splitlines()

    def test_cases_of_all_targets_are_added(self):
        self.add_target("//a", built=True)
        self.add_result("//a", xml=TWO_PASSED)
        self.add_result("//b", xml=TWO_PASSED, shard=1)
        self.add_result("//b", xml=TWO_PASSED, shard=2)
        self.assertEqual(self.summarize(0), (0, ["6 passed, 0 failed"]))

    def test_failed_case_is_named(self):
        self.add_result("//a", "FAILED", ONE_FAILED)
        self.assertEqual(
            self.summarize(3),
            (1, ["FAILED: //a Suite.B", "1 passed, 1 failed"]),
        )

    def test_skipped_cases_have_not_passed(self):
        self.add_result("//a", xml=SKIPPED)
        status, lines = self.summarize(0)
        self.assertEqual(status, 0)
        self.assertEqual(lines[-1], "1 passed, 0 failed")

    def test_skipped_cases_are_grouped_by_target_and_reason(self):
        self.add_result("//a", xml=SKIPPED)
        self.add_result("//b", xml=SKIPPED_IN_CC, shard=1)
        self.add_result("//b", xml=SKIPPED_IN_CC, shard=2)
        _, lines = self.summarize(0)
        self.assertEqual(
            lines[:-1],
            [
                "SKIPPED: 3 of //a: no reason given",
                "SKIPPED: 1 of //a: no ip here",
                "SKIPPED: 2 of //b: no NUMA",
            ],
        )

    def test_skips_come_after_failures_and_before_the_count(self):
        self.add_result("//a", "FAILED", ONE_FAILED)
        self.add_result("//b", xml=SKIPPED_IN_CC)
        _, lines = self.summarize(3)
        self.assertEqual(
            lines,
            [
                "FAILED: //a Suite.B",
                "SKIPPED: 1 of //b: no NUMA",
                "1 passed, 1 failed",
            ],
        )

    def test_crash_after_cases_that_passed_is_a_failure(self):
        self.add_result("//a", "FAILED", TWO_PASSED)
        self.assertEqual(
            self.summarize(3),
            (1, ["FAILED: //a (FAILED)", "2 passed, 1 failed"]),
        )

    def test_timeout_without_cases_is_a_failure(self):
        self.add_result("//a", xml=TWO_PASSED)
        self.add_result("//b", "TIMEOUT")
        self.assertEqual(
            self.summarize(3),
            (1, ["FAILED: //b (TIMEOUT)", "2 passed, 1 failed"]),
        )

    def test_target_that_does_not_build_is_a_failure(self):
        self.add_result("//a", xml=TWO_PASSED)
        self.add_target("//b", built=False)
        self.assertEqual(
            self.summarize(1),
            (1, ["FAILED: //b (did not build)", "2 passed, 1 failed"]),
        )

    def test_error_of_bazel_itself_is_a_failure(self):
        self.add_result("//a", xml=TWO_PASSED)
        self.assertEqual(
            self.summarize(37),
            (1, ["FAILED: bazel (exit status 37)", "2 passed, 1 failed"]),
        )

    def test_failed_check_of_the_source_is_a_failure(self):
        self.add_result("//a", xml=TWO_PASSED)
        self.assertEqual(
            self.summarize(0, "scripts/check_house"),
            (1, ["FAILED: scripts/check_house", "2 passed, 1 failed"]),
        )

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(
            self.summarize(0), (1, ["No test ran.", "0 passed, 0 failed"])
        )

    def test_last_attempt_counts(self):
        self.add_result("//a", "FAILED", ONE_FAILED, attempt=1)
        self.add_result("//a", "PASSED", TWO_PASSED, attempt=2)
        self.assertEqual(self.summarize(0), (0, ["2 passed, 0 failed"]))


if __name__ == "__main__":
    testing_main.main()
