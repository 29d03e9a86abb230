# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench import` as users run it."""

import json
import unittest

from tests import programs
from tests import testing_main

TRACES = """trace,span,parent,service,operation,start_ns,duration_ns,kind
t,1,,bank,transfer,1000000,90000,server
t,2,1,vault,open,1020000,50000,server
u,1,,bank,transfer,501000000,90000,server
v,9,missing,vault,open,602000000,50000,server
"""


class ImportTest(programs.ProgramTest):
    def traces(self, text=TRACES):
        path = self.path("traces.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_the_config_passes_check_test(self):
        config = self.path("mine.config")
        outcome = self.distbench(
            "import", "csv", self.traces(), "-o", config, "--fidelity"
        )
        self.assertEqual((outcome.status, outcome.out), (0, ""), outcome)
        self.assertIn("Invented:", outcome.err)
        self.assertIn("On simulated time", outcome.err)
        self.assertIn("too few calls to compare", outcome.err)
        with open(config, encoding="utf-8") as file:
            self.assertNotIn("vault", file.read())
        outcome = self.distbench("check_test", config)
        self.assertEqual(outcome.status, 0, outcome)

    def test_reports_are_files_if_named(self):
        text, document = self.path("report"), self.path("report.json")
        outcome = self.distbench(
            "import",
            "csv",
            self.traces(),
            "--keep_names",
            f"--report={text}",
            f"--json_report={document}",
        )
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        self.assertIn('name: "vault"', outcome.out)
        with open(document, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["traces"], 3)
        self.assertEqual(
            report["notes"],
            {"spans whose parent is missing begin a tree of their own": 1},
        )

    def test_failures_become_faults_if_asked_for(self):
        header, *rows = TRACES.splitlines()
        failed = [row + ("," if ",vault," in row else ",1") for row in rows]
        path = self.traces("\n".join([header + ",error"] + failed) + "\n")
        config = self.path("faulty.config")
        outcome = self.distbench("import", "csv", path, "-o", config)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("2 failures, which the config does not repeat", outcome.err)
        outcome = self.distbench("import", "csv", path, "-o", config, "--failures")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertNotIn("does not repeat", outcome.err)
        with open(config, encoding="utf-8") as file:
            self.assertIn("server_faults", file.read())
        outcome = self.distbench("check_test", config)
        self.assertEqual(outcome.status, 0, outcome)

    def test_what_is_imported_is_not_overwritten(self):
        path = self.traces()
        for flag in ("-o", "--report", "--json_report"):
            with self.subTest(flag):
                outcome = self.distbench("import", "csv", path, flag, path)
                self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
                self.assertIn(f"{flag} {path} would overwrite FILE", outcome.err)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), TRACES)

    def test_bad_input_is_explained(self):
        for arguments, message in [
            (["otlp", self.traces()], "is not JSON"),
            (["xml", self.traces()], "otlp, jaeger, zipkin, csv"),
            (["csv", self.path("missing")], "missing"),
            (["csv", self.traces(), "--max_spans=2"], "--max_spans"),
            (
                ["csv", self.traces(), "--sampled_fraction=nan"],
                "nan not in range 1e-09 to 1",
            ),
        ]:
            with self.subTest(arguments):
                outcome = self.distbench("import", *arguments)
                self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
                self.assertIn(message, outcome.err)


if __name__ == "__main__":
    testing_main.main()
