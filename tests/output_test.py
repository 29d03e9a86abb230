"""Output that is not written is an error, and none is lost in another file."""

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


if __name__ == "__main__":
    testing_main.main()
