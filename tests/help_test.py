"""distbench prints help for itself and every subcommand."""

import unittest

from tests import programs
from tests import testing_main

SUBCOMMANDS = (
    "ab_test",
    "bench",
    "bench format",
    "bench list",
    "bench merge",
    "bench pack",
    "bench run",
    "bench study",
    "bench summary",
    "calibrate",
    "check_test",
    "compare",
    "help",
    "history",
    "history accept",
    "history list",
    "history note",
    "history trend",
    "history unaccept",
    "import",
    "join",
    "launch",
    "make_secret",
    "node_manager",
    "noise_floor",
    "numa_compare",
    "protection",
    "report",
    "run_tests",
    "runs",
    "runs cancel",
    "runs get",
    "runs list",
    "runs wait",
    "search",
    "serve",
    "simulate",
    "status",
    "test_preview",
    "test_sequencer",
)


class HelpTest(programs.ProgramTest):
    def help_text(self, *arguments):
        outcome = self.distbench(*arguments)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(outcome.err, "")
        self.assertIn("Example", outcome.out)
        return outcome.out

    def test_overview_names_every_subcommand(self):
        text = self.help_text()
        for subcommand in SUBCOMMANDS:
            if " " not in subcommand:
                self.assertRegex(text, rf"\n  {subcommand} +\w")
        self.assertEqual(self.help_text("help"), text)
        self.assertEqual(self.help_text("--help"), text)

    def test_every_subcommand_has_an_example_of_itself(self):
        for subcommand in SUBCOMMANDS:
            with self.subTest(subcommand=subcommand):
                text = self.help_text("help", *subcommand.split())
                self.assertRegex(text, rf"Usage: distbench {subcommand} ")
                self.assertRegex(text, rf"\n  distbench {subcommand} ")
                self.assertEqual(
                    self.help_text(*subcommand.split(), "--help"), text
                )

    def test_what_only_scripts_call_is_hidden(self):
        text = self.help_text()
        for subcommand in ("complete", "engine", "generate_shell_files"):
            self.assertNotRegex(text, rf"\n  {subcommand} ")
            # Their errors say that there is help.
            self.assertEqual(
                self.help_text("help", subcommand),
                self.help_text(subcommand, "--help"),
            )

    def test_flags_of_the_connection_name_their_variables(self):
        self.assertIn("~/.config/distbench/config", self.help_text())
        for subcommand in SUBCOMMANDS:
            text = self.help_text("help", *subcommand.split())
            for flag in ("test_sequencer", "tls_ca", "tls_cert", "tls_key"):
                if f"\n  --{flag} " in text:
                    self.assertIn(
                        f"Environment: DISTBENCH_{flag.upper()}\n", text
                    )

    def test_lines_fit_a_terminal(self):
        for subcommand in SUBCOMMANDS:
            for line in self.help_text(
                "help", *subcommand.split()
            ).splitlines():
                self.assertLessEqual(len(line), 100, line)


if __name__ == "__main__":
    testing_main.main()
