# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Output that is not written is an error, and none is lost in another file."""

import os
import unittest

from tests import programs
from tests import testing_main

TEST = programs.client_server_config("max_iteration_count: 1")


class StandardOutputTest(programs.ProgramTest):
    def run_with(self, redirection, *command):
        return self.run_to_end(
            "sh", "-c", f'exec "$@" {redirection}', "sh", *command
        )

    def commands(self):
        config = self.write("test.config", TEST)
        return (
            [programs.DISTBENCH, "check_test", config],
            [programs.DISTBENCH, "check_test", "--print=yaml", config],
            [programs.DISTBENCH, "test_preview", config, "--quiet"],
            [programs.DISTBENCH, "help"],
            [programs.DISTBENCH, "--version"],
            [programs.TEST_BUILDER, "help"],
        )

    def test_a_full_disk_is_an_error(self):
        for command in self.commands():
            with self.subTest(command=command):
                outcome = self.run_with(">/dev/full", *command)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn("cannot write /dev/stdout: ", outcome.err)

    def test_a_closed_stdout_is_an_error(self):
        for command in self.commands():
            with self.subTest(command=command):
                outcome = self.run_with(">&-", *command)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn("cannot write /dev/stdout: ", outcome.err)

    def test_a_more_severe_status_stays(self):
        outcome = self.run_with(
            ">/dev/full",
            programs.DISTBENCH,
            "test_preview",
            self.write("test.config", TEST),
            "--slo=ping p50<=1us",
            "--quiet",
        )
        self.assertEqual(outcome.status, 2, outcome)
        self.assertIn("cannot write /dev/stdout: ", outcome.err)

    def test_who_has_nothing_to_say_needs_no_stdout(self):
        outcome = self.run_with(
            ">&-",
            programs.DISTBENCH,
            "check_test",
            "--print=yaml",
            self.path("none.config"),
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertNotIn("/dev/stdout", outcome.err)

    def test_a_reader_may_leave(self):
        config = self.write("test.config", TEST)
        outcome = self.run_to_end(
            "sh",
            "-c",
            f"{programs.DISTBENCH} test_preview {config} --quiet "
            f"--outfile={self.path('out.pb')} | true",
        )
        self.assertNotIn("/dev/stdout", outcome.err)


class NamedFilesTest(programs.ProgramTest):
    """Nothing is read, run or written if a file would be lost."""

    def assert_refused(self, kept, pattern, *arguments):
        with open(kept, "rb") as file:
            before = file.read()
        outcome = self.distbench(*arguments)
        self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
        self.assertRegex(outcome.err, pattern)
        self.assertIn("name another file", outcome.err)
        with open(kept, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_an_output_is_no_input(self):
        a = self.write("a.pb", "test_results {}")
        b = self.write("b.pb", "test_results {}")
        test = self.write("test.config", TEST)
        link = self.path("link")
        os.symlink(b, link)
        for kept, pattern, arguments in (
            (a, r"-o .* overwrite RESULT", ["report", a, "-o", a]),
            (b, r"-o .* overwrite NEW", ["compare", a, b, "-o", link]),
            (b, r"--junit .* overwrite NEW", ["compare", a, b, f"--junit={b}"]),
            (
                b,
                r"--markdown .* overwrite --noise_floor",
                ["compare", a, a, f"--noise_floor={b}", f"--markdown={b}"],
            ),
            (
                test,
                r"--outfile .* overwrite FILE",
                ["test_preview", test, f"--outfile={test}"],
            ),
            (
                test,
                r"--outfile .* overwrite --infile",
                ["test_preview", f"--infile={test}", f"--outfile={test}"],
            ),
            (
                test,
                r"--outfile .* overwrite FILE",
                [
                    "run_tests",
                    test,
                    f"--outfile={test}",
                    "--test_sequencer=127.0.0.1:1",
                ],
            ),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(kept, pattern, *arguments)

    def test_nor_what_standard_input_is(self):
        test = self.write("test.config", TEST)
        with open(test, encoding="utf-8") as stdin:
            outcome = self.distbench(
                "test_preview", f"--outfile={test}", stdin=stdin
            )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(outcome.err, r"--outfile .* overwrite standard input")

    def test_outputs_are_different_files(self):
        a = self.write("a.pb", "test_results {}")
        new = self.path("new")
        for pattern, arguments in (
            (
                r"--markdown .* overwrite --junit|--junit .* overwrite -",
                ["compare", a, a, f"--junit={new}", f"--markdown={new}"],
            ),
            (
                r"--junit .* overwrite --outfile",
                [
                    "test_preview",
                    self.write("test.config", TEST),
                    f"--outfile={new}",
                    f"--junit={new}",
                ],
            ),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(a, pattern, *arguments)
                self.assertFalse(os.path.exists(new))


if __name__ == "__main__":
    testing_main.main()
