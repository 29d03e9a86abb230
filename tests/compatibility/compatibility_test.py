# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Today's programs read the configs and results of earlier versions, say the same of
them, and take the same flags (docs/compatibility.md)."""

import collections
import gzip
import json
import os
import re
import unittest

from tests import products
from tests import programs
from tests import testing_main
from tests.compatibility import command_lines

HERE = os.path.abspath("tests/compatibility")
VERSIONS = sorted(
    name for name in os.listdir(HERE) if os.path.exists(f"{HERE}/{name}/statuses.json")
)

# Members of reports that say something to people, in words that may change, and the
# version that wrote the report.
WORDS = {"advice", "distbench_version", "evidence", "message", "sentences"}

_NOT_BUILT_IN = re.compile("which this (program|distbench) was built without")


def read(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return file.read()


def is_table(value):
    return {"columns", "rows"} <= value.keys()


def differences(old, new, place="report"):
    """Returns what the old report says and the new one does not, one text each. New
    members are no difference, and columns at the end of a table."""
    if isinstance(old, dict) and isinstance(new, dict):
        if is_table(old) and is_table(new):
            return _differences_of_tables(old, new, place)
        return [
            found
            for key in sorted(old.keys() - WORDS)
            for found in (
                differences(old[key], new[key], f"{place}.{key}")
                if key in new
                else [f"{place}.{key} is gone"]
            )
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            found
            for index, pair in enumerate(zip(old, new))
            for found in differences(*pair, f"{place}[{index}]")
        ]
    return [] if old == new else [f"{place} was {old!r} and is {new!r}"]


def _differences_of_tables(old, new, place):
    count = len(old["columns"])
    if new["columns"][:count] != old["columns"]:
        return [f"{place} had the columns {old['columns']} and has {new['columns']}"]
    rows = [row[:count] for row in new["rows"]]
    return differences(old["rows"], rows, f"{place}.rows")


class DifferencesTest(unittest.TestCase):
    def test_figures_have_to_be_equal(self):
        for old, new in [
            ({"a": 1}, {"a": 2}),
            ({"a": 1}, {}),
            ({"a": None}, {"a": 0}),
            ([1, 2], [1]),
            ({"columns": ["a"], "rows": [[1]]}, {"columns": ["a"], "rows": [[2]]}),
            ({"columns": ["a"], "rows": [[1]]}, {"columns": ["b"], "rows": [[1]]}),
            ({"columns": ["a"], "rows": [[1]]}, {"columns": ["b", "a"], "rows": [[1, 1]]}),
            ({"columns": ["a"], "rows": [[1]]}, {"columns": ["a"], "rows": []}),
        ]:
            self.assertEqual(len(differences(old, new)), 1, (old, new))

    def test_what_is_new_is_no_difference(self):
        for old, new in [
            ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}], "d": 3}),
            ({"message": "a"}, {"message": "b"}),
            (
                {"columns": ["a", "b"], "rows": [[1, 2]]},
                {"columns": ["a", "b", "new"], "rows": [[1, 2, 0]]},
            ),
        ]:
            self.assertEqual(differences(old, new), [], (old, new))


class CompatibilityTest(programs.ClusterTest):
    def files(self, folder):
        """Returns (version, path); a folder of a version is not empty."""
        found = []
        for version in VERSIONS:
            names = sorted(os.listdir(f"{HERE}/{version}/{folder}"))
            self.assertTrue(names, (version, folder))
            found += [(version, f"{HERE}/{version}/{folder}/{name}") for name in names]
        return found

    def test_there_are_versions(self):
        self.assertIn("0.9", VERSIONS)

    def test_configs_are_valid(self):
        for _, path in self.files("configs"):
            with self.subTest(path=path):
                outcome = self.distbench("check_test", path)
                if _NOT_BUILT_IN.search(outcome.err) or programs.lacks_driver(outcome):
                    continue
                self.assertEqual(outcome.status, 0, outcome)

    def test_reports_have_the_same_figures(self):
        products.require_all(self)
        for version, path in self.files("results"):
            with self.subTest(path=path):
                # The report names the file as the command does.
                name = os.path.basename(path)
                outcome = self.distbench(
                    "report", f"results/{name}", "--format=json", cwd=f"{HERE}/{version}"
                )
                statuses = json.loads(read(f"{HERE}/{version}/statuses.json"))
                self.assertEqual(outcome.status, statuses[name], outcome)
                old = read(f"{HERE}/{version}/reports/{name.partition('.')[0]}.json.gz")
                found = differences(json.loads(old), json.loads(outcome.out))
                self.assertEqual(found[:10], [])

    def test_results_have_summaries(self):
        for _, path in self.files("results"):
            with self.subTest(path=path):
                self.assertIn("RPC latency summary:", self.distbench("report", path).out)

    def test_flags_are_taken(self):
        products.require_all(self)

        def help_of(program):
            return lambda *words: self.run_to_end(program, *words).out

        taken = {
            *command_lines.lines("distbench", help_of(programs.DISTBENCH)),
            *command_lines.lines("test_builder", help_of(programs.TEST_BUILDER)),
        }
        for version in VERSIONS:
            lines = read(f"{HERE}/{version}/flags.txt").splitlines()
            self.assertGreater(len(lines), 100)
            self.assertEqual([line for line in lines if line not in taken], [], version)

    def test_a_config_runs(self):
        sequencer = self.start_sequencer("--local_nodes=4")
        for version in VERSIONS:
            with self.subTest(version=version):
                outfile = self.path(f"{version}.pb.gz")
                outcome = self.run_tests(
                    sequencer,
                    f"{HERE}/{version}/configs/recorded.config",
                    f"--outfile={outfile}",
                    "--allow_invalid",
                )
                # The busy machine of a test may miss objectives.
                self.assertIn(outcome.status, (0, 2), outcome)
                ran = json.loads(self.distbench("report", outfile, "--format=json").out)
                then = json.loads(read(f"{HERE}/{version}/reports/binary.json.gz"))
                self.assertEqual(
                    [(test["name"], test["failure"]) for test in ran["tests"]],
                    [(test["name"], None) for test in then["tests"]],
                )
                # The config as it ran says what fields mean that were left out.
                for new, old in zip(ran["tests"], then["tests"]):
                    lines = collections.Counter(old["traffic_config"].splitlines())
                    lines.subtract(new["traffic_config"].splitlines())
                    self.assertEqual([line for line in lines if lines[line] > 0], [])


if __name__ == "__main__":
    testing_main.main()
