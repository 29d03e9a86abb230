# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests how the package finds and runs the program distbench."""

import os
import tempfile
import unittest
from unittest import mock

import distbench
from distbench._program import Program
from tests import testing_main


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return path

    def says(self, name, path):
        """A program that says its name."""
        document = f'{{"from": "{name}"}}'
        return self.script(path, f"echo '{document}'")

    def environment(self, **variables):
        patch = mock.patch.dict(
            os.environ, {"PATH": f"{self.folder}:/usr/bin:/bin", **variables}
        )
        if "DISTBENCH" not in variables:
            os.environ.pop("DISTBENCH", None)
        return patch

    def found(self, path=None):
        return Program(path).report(["a.pb"])["from"]

    def test_an_argument_precedes_the_variable_and_that_precedes_path(self):
        self.says("path", "distbench")
        variable = self.says("variable", "variable")
        argument = self.says("argument", "argument")
        with mock.patch.dict(os.environ):
            with self.environment(DISTBENCH=variable):
                self.assertEqual(self.found(argument), "argument")
                self.assertEqual(self.found(), "variable")
            with self.environment():
                self.assertEqual(self.found(), "path")

    def test_a_missing_program_is_named_with_the_remedy(self):
        with mock.patch.dict(os.environ):
            for variables, argument, problem in (
                ({}, "/none/distbench", "program=/none/distbench is not a program"),
                ({"DISTBENCH": "/none"}, None, "DISTBENCH=/none is not a program"),
                ({}, None, "the program distbench, .*, is not on PATH"),
            ):
                with self.environment(**variables):
                    with self.assertRaisesRegex(
                        distbench.ProgramError, f"{problem}; set DISTBENCH or program="
                    ):
                        distbench.read_results(__file__, program=argument)

    def test_what_it_refuses_is_said_in_its_words(self):
        program = Program(self.script("p", "echo distbench: no such thing >&2; exit 1"))
        with self.assertRaises(distbench.ResultError) as raised:
            program.report(["a.pb"])
        self.assertEqual(str(raised.exception), "no such thing")

    def test_results_that_are_false_are_read_nevertheless(self):
        program = Program(self.script("p", "echo '{}'; exit 3"))
        self.assertEqual(program.report(["a.pb"]), {})

    def test_other_programs_are_refused(self):
        for text, problem in (
            ("echo hello", "did not write JSON: status 0; is it distbench"),
            ("kill -9 $$", "status -9"),
        ):
            with self.assertRaisesRegex(distbench.DistbenchError, problem):
                Program(self.script("p", text)).report(["a.pb"])

    def test_a_fetch_connects_as_the_client_does(self):
        outfile = os.path.join(self.folder, "x.pb")
        program = Program(self.script("p", f'env >"{outfile}"; exit 3'))
        variables = {"DISTBENCH_TLS_KEY": "mine", "DISTBENCH_TLS_NAME": "mine"}
        with mock.patch.dict(os.environ, variables):
            program.fetch("run", outfile, {"DISTBENCH_TLS_NAME": "its"})
        with open(outfile, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertIn("DISTBENCH_TLS_NAME=its", lines)
        self.assertFalse([line for line in lines if "DISTBENCH_TLS_KEY" in line])

    def test_a_result_that_does_not_come_is_an_error(self):
        program = Program(self.script("p", "echo distbench: it is gone >&2; exit 1"))
        with self.assertRaisesRegex(distbench.ProgramError, "run 7: it is gone"):
            program.fetch("7", os.path.join(self.folder, "none.pb"), {})


if __name__ == "__main__":
    testing_main.main()
