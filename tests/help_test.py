# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""distbench prints help for itself and every subcommand."""

import re
import unittest

from tests import programs
from tests import testing_main

# Those of the core. Products add theirs.
CORE = (
    "check_test",
    "compare",
    "help",
    "make_secret",
    "node_manager",
    "report",
    "run_tests",
    "runs",
    "runs cancel",
    "runs get",
    "runs list",
    "runs wait",
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

    def subcommands(self, *words):
        """Returns the names of all subcommands of this one, at any depth."""
        text = self.help_text("help", *words)
        below = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        names = []
        for name in re.findall(r"(?m)^  (\w+) +\w", below):
            names.append(" ".join((*words, name)))
            names.extend(self.subcommands(*words, name))
        return names

    def test_overview_names_every_subcommand(self):
        self.assertLessEqual(set(CORE), set(self.subcommands()))
        text = self.help_text()
        self.assertEqual(self.help_text("help"), text)
        self.assertEqual(self.help_text("--help"), text)

    def test_every_subcommand_has_an_example_of_itself(self):
        for subcommand in self.subcommands():
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
        for subcommand in self.subcommands():
            text = self.help_text("help", *subcommand.split())
            # check_test asks only whom its command line names.
            flags = ("tls_ca", "tls_cert", "tls_key")
            if subcommand != "check_test":
                flags += ("test_sequencer",)
            for flag in flags:
                if f"\n  --{flag} " in text:
                    self.assertIn(
                        f"Environment: DISTBENCH_{flag.upper()}\n", text
                    )

    def test_lines_fit_a_terminal(self):
        for subcommand in self.subcommands():
            for line in self.help_text(
                "help", *subcommand.split()
            ).splitlines():
                self.assertLessEqual(len(line), 100, line)


if __name__ == "__main__":
    testing_main.main()
