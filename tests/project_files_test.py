# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What GitHub reads in this repository: continuous integration, forms, owners."""

import os
import re
import unittest

import yaml

from tests import testing_main

GITHUB = ".github"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def load(path):
    return yaml.safe_load(read(f"{GITHUB}/{path}"))


class ContinuousIntegrationTest(unittest.TestCase):
    def setUp(self):
        self.workflow = load("workflows/ci.yml")
        (self.job,) = self.workflow["jobs"].values()

    def test_it_runs_for_pushes_and_pull_requests(self):
        # YAML 1.1 takes the key "on" for a truth value.
        self.assertEqual(set(self.workflow[True]), {"push", "pull_request"})

    def test_it_may_change_nothing(self):
        self.assertEqual(self.workflow["permissions"], {"contents": "read"})

    def test_releases_are_those_of_the_readme(self):
        named = re.search(r"On a fresh Debian (\d+) or (\d+)", read("README.md")).groups()
        releases = self.job["strategy"]["matrix"]["release"]
        self.assertEqual(releases, [int(release) for release in named])
        self.assertEqual(self.job["container"]["image"], "debian:${{ matrix.release }}")

    def test_it_checks_out_with_git_and_runs_everything(self):
        steps = [step.get("uses", step.get("run", "")) for step in self.job["steps"]]
        install, checkout, trust, run = steps
        self.assertRegex(install, r"apt-get install .*\bgit\b")
        self.assertRegex(checkout, r"^actions/checkout@v\d+$")
        self.assertIn("safe.directory", trust)
        self.assertEqual(run, ".ci/run")
        self.assertTrue(os.access(run, os.X_OK), run)


class FormsTest(unittest.TestCase):
    def test_forms_are_as_github_wants_them(self):
        kinds = {"markdown", "input", "textarea"}
        for name in ("bug.yml", "feature.yml"):
            form = load(f"ISSUE_TEMPLATE/{name}")
            self.assertEqual(set(form), {"name", "description", "labels", "body"}, name)
            ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
            self.assertEqual(len(ids), len(set(ids)), name)
            for part in form["body"]:
                self.assertIn(part["type"], kinds, name)
                key = "value" if part["type"] == "markdown" else "label"
                self.assertTrue(part["attributes"][key], name)

    def test_bugs_are_told_with_version_config_and_result(self):
        ids = [part.get("id") for part in load("ISSUE_TEMPLATE/bug.yml")["body"]]
        for wanted in ("version", "config", "result", "hosts"):
            self.assertIn(wanted, ids)


class OwnersTest(unittest.TestCase):
    def test_every_line_has_an_owner(self):
        lines = [
            line.split()
            for line in read(f"{GITHUB}/CODEOWNERS").splitlines()
            if line and not line.startswith("#")
        ]
        self.assertEqual(lines[0][0], "*")
        for pattern, *owners in lines:
            self.assertTrue(owners, pattern)


if __name__ == "__main__":
    testing_main.main()
