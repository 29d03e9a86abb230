# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""scripts/install.sh and scripts/quickstart.sh, in a checkout where everything is
built already."""

import os
import shutil
import unittest

from tests import programs
from tests import testing_main

BUILT = {
    "distbench/cli/distbench": programs.DISTBENCH,
    "distbench/cli/distbench_core": programs.DISTBENCH,
    "test_builder/test_builder_main": programs.TEST_BUILDER,
    "test_builder/test_builder_core": programs.TEST_BUILDER,
}


class ScriptTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("scripts"))
        for name in ("lib.sh", "install.sh", "quickstart.sh"):
            shutil.copy(f"scripts/{name}", self.path("scripts"))
        shutil.copy(programs.START_SCRIPT, self.folder)
        self.write_command("scripts/install_deps.sh")
        self.write_command("commands/bazel")
        for name, program in BUILT.items():
            os.makedirs(self.path(os.path.dirname(f"bazel-bin/{name}")), exist_ok=True)
            os.symlink(program, self.path(f"bazel-bin/{name}"))

    def write_command(self, name):
        """Writes a program that does nothing."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        os.chmod(self.write(name, "#!/bin/sh\n"), 0o755)

    def run_script(self, name, *arguments, **variables):
        path = self.path("commands") + os.pathsep + os.environ["PATH"]
        variables = {"PATH": path, "HOME": self.folder, "TMPDIR": self.folder} | variables
        return self.run_to_end(
            self.path(f"scripts/{name}"),
            *arguments,
            env=self.environment(**variables),
            cwd=self.folder,
        )


class InstallTest(ScriptTest):
    def assert_installs(self, folder, *arguments, **variables):
        outcome = self.run_script("install.sh", *arguments, **variables)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(f"in {self.path(folder)}\n", outcome.out)
        for name in ("distbench", "test_builder"):
            self.assertTrue(os.access(self.path(f"{folder}/{name}"), os.X_OK), outcome)

    def test_a_prefix_has_its_programs_in_bin(self):
        self.assert_installs("a/bin", f"--prefix={self.path('a')}")
        self.assert_installs("b/bin", "--core", "--prefix", self.path("b"))
        self.assert_installs("c/bin", PREFIX=self.path("c/"))

    def test_home_may_be_written_as_in_the_shell(self):
        self.assert_installs(".local/bin", "--prefix=~/.local")

    def test_bindir_is_the_folder_itself(self):
        self.assert_installs("programs", f"--bindir={self.path('programs')}")
        self.assert_installs("d/bin", f"--bindir={self.path('d/bin')}", "--prefix=/")

    def test_a_prefix_that_was_a_folder_for_programs_is_refused(self):
        outcome = self.run_script("install.sh", f"--prefix={self.path('old/bin')}")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(f"give --prefix={self.path('old')}, or --bindir=", outcome.err)
        self.assertFalse(os.path.exists(self.path("old")))

    def test_a_folder_must_be_named(self):
        for arguments in (["--prefix="], ["--bindir="], ["--bindir"]):
            outcome = self.run_script("install.sh", *arguments)
            self.assertEqual(outcome.status, 1, outcome)
            self.assertIn(" needs a folder", outcome.err)


class QuickstartTest(ScriptTest):
    def test_it_ends_with_what_matters_most_wherever_it_is_written(self):
        outcome = self.run_script("quickstart.sh")
        # The machine may be too busy for numbers that are true.
        self.assertIn(outcome.status, (0, 3), outcome)
        self.assertRegex(outcome.out, r"RPCs:\n  RPC +achieved +mean +p50 +p95 +p99 ")
        self.assertNotIn("Communication summary:", outcome.out)
        self.assertIn("install.sh then builds the rest", outcome.out)
        self.assert_nothing_runs()


if __name__ == "__main__":
    testing_main.main()
