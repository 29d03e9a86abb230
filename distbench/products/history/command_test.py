# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench history` over folders of results."""

import json
import os
import subprocess

from tests import programs
from tests import testing_main

MAKE_EXAMPLE = os.path.abspath("distbench/report/testing/make_example_result")


class HistoryTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        self.folder = self.path("results")
        os.mkdir(self.folder)

    def make(self, name, test="example"):
        subprocess.run(
            [MAKE_EXAMPLE, os.path.join(self.folder, name), test]
            + ["1", "1", "1", "2", "20"],
            check=True,
        )

    def history(self, action, *arguments):
        outcome = self.distbench("history", action, self.folder, *arguments)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome

    def listed(self, *flags):
        outcome = self.history("list", "--format=json", *flags)
        return json.loads(outcome.out)["results"]

    def test_results_are_found(self):
        self.make("a.pb.gz")
        self.make("b.pb", test="other")
        self.assertIn("b.pb", self.history("list").out)
        self.assertEqual(len(self.listed()), 2)
        (found,) = self.listed("--search=oth")
        self.assertEqual(found["file"], "b.pb")
        (found,) = self.listed("--test=example")
        self.assertEqual(found["file"], "a.pb.gz")
        self.assertEqual(self.listed("--label=none"), [])

    def test_unreadable_files_are_named(self):
        self.make("a.pb")
        with open(os.path.join(self.folder, "bad.pb"), "wb") as file:
            file.write(b"\x01\x02 no result")
        outcome = self.history("list")
        self.assertIn("bad.pb", outcome.err)
        self.assertIn("a.pb", outcome.out)

    def test_notes_are_kept(self):
        self.make("a.pb")
        (result,) = self.listed()
        self.history("note", result["id"], "new switch")
        self.history("accept", result["id"])
        (result,) = self.listed()
        self.assertEqual(result["note"], "new switch")
        self.assertTrue(result["accepted"])
        self.history("unaccept", result["id"])
        (result,) = self.listed()
        self.assertFalse(result["accepted"])

    def test_a_trend_says_what_it_needs(self):
        self.make("a.pb")
        outcome = self.history("trend", "--test=example")
        self.assertIn("at least 10 valid results", outcome.out)
        outcome = self.distbench("history", "trend", self.folder, "--test=none")
        self.assertEqual(outcome.status, 1)
        self.assertIn("no such series", outcome.err)

    def test_several_folders(self):
        other = os.path.abspath(self.path("../other"))
        os.mkdir(other)
        self.make("a.pb")
        self.make("../other/a.pb")
        self.make("../other/b.pb", test="another")
        outcome = self.history("list", other, "--format=json")
        results = {r["file"]: r for r in json.loads(outcome.out)["results"]}
        self.assertEqual(
            set(results),
            {f"{self.folder}/a.pb", f"{other}/a.pb", f"{other}/b.pb"},
        )
        self.assertEqual(len({r["id"] for r in results.values()}), 3)
        outcome = self.history("trend", other, "--test=example")
        self.assertIn("there are 2", outcome.out)

        noted = results[f"{other}/a.pb"]["id"]
        self.history("note", other, noted, "new switch")
        self.history("accept", other, noted)
        self.assertEqual(self.listed()[0]["note"], "")
        self.folder, folder = other, self.folder
        alone = {r["file"]: r for r in self.listed()}
        self.assertEqual(alone["a.pb"]["note"], "new switch")
        self.assertTrue(alone["a.pb"]["accepted"])

        # Both have such a file, but only one of them the other.
        unclear = alone["a.pb"]["id"]
        outcome = self.distbench("history", "accept", folder, other, unclear)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(noted, outcome.err)
        self.history("unaccept", folder, alone["b.pb"]["id"])

    def test_bad_input(self):
        for arguments, problem in [
            (["list", self.path("missing")], "missing"),
            (["list", self.folder, self.path("missing")], "missing"),
            (["list", self.write("a.pb", "")], "give the folder"),
            (["accept", self.folder, "none-0", "--help"], "before the arg"),
            (["list", self.folder, "--attribute=x"], "NAME=VALUE"),
            (["note", self.folder, "none-0", "text"], "none-0"),
        ]:
            outcome = self.distbench("history", *arguments)
            self.assertEqual(outcome.status, 1, outcome)
            self.assertIn(problem, outcome.err)


if __name__ == "__main__":
    testing_main.main()
