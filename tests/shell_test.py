# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What makes the programs comfortable in a shell: completion by real shells,
manual pages, defaults from the environment and from the user's file."""

import os
import shutil
import unittest

from tests import programs
from tests import terminal_shell
from tests import testing_main

VERSION_LINE = r"^distbench \d+\.\d+\.\d+ \(revision \S+\)\n$"

TEST = programs.client_server_config("max_iteration_count: 10")


class ShellFilesTest(programs.ClusterTest):
    """Tests with a folder that has the programs on a PATH, their completions,
    and a config."""

    def setUp(self):
        super().setUp()
        self.programs = self.path("programs")
        os.mkdir(self.programs)
        for name, path in (
            ("distbench", programs.DISTBENCH),
            ("test_builder", programs.TEST_BUILDER),
        ):
            os.symlink(path, os.path.join(self.programs, name))
        self.work = self.path("work")
        os.mkdir(self.work)
        self.write("work/my_test.config", TEST)
        outcome = self.distbench("generate_shell_files", self.folder)
        self.assertEqual(outcome.status, 0, outcome)
        self.completions = self.path("completions")

    def environment(self, **extra):
        inherited = super().environment(**extra)
        path = f"{self.path('programs')}:{inherited['PATH']}"
        return {**inherited, "PATH": path}

    def complete(self, *words, **extra):
        """Returns what `distbench complete` offers, without descriptions."""
        outcome = self.distbench(
            "complete", "--", *words, env=self.environment(**extra)
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(outcome.err, "")
        return [line.partition("\t")[0] for line in outcome.out.splitlines()]


class ManualTest(ShellFilesTest):
    def test_every_command_has_a_page(self):
        pages = os.listdir(self.path("man"))
        for page in (
            "distbench.1",
            "distbench-run_tests.1",
            "distbench-runs.1",
            "distbench-runs-get.1",
            "test_builder.1",
        ):
            self.assertIn(page, pages)
        for hidden in ("engine", "complete", "generate_shell_files"):
            self.assertNotIn(f"distbench-{hidden}.1", pages)

    @unittest.skipUnless(shutil.which("man"), "needs man-db")
    def test_the_formatter_has_nothing_to_complain_about(self):
        for page in sorted(os.listdir(self.path("man"))):
            with self.subTest(page=page):
                outcome = self.run_to_end(
                    "man",
                    "--warnings",
                    "-E",
                    "UTF-8",
                    "-l",
                    self.path(f"man/{page}"),
                    env=self.environment(LC_ALL="C.UTF-8", MANWIDTH="80"),
                )
                self.assertEqual(outcome.status, 0, outcome)
                self.assertEqual(outcome.err, "")
                for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"):
                    self.assertRegex(outcome.out, f"(?m)^{section}$")

    def test_pages_say_what_help_says(self):
        with open(
            self.path("man/distbench-run_tests.1"), encoding="utf-8"
        ) as file:
            page = file.read()
        self.assertIn(r"\-\-max_test_duration\fR=\fIDURATION", page)
        self.assertIn("DISTBENCH_TEST_SEQUENCER", page)
        with open(self.path("man/test_builder.1"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("node_count=10", page)
        self.assertIn(r"\-\-duration\fR=\fIDURATION", page)


class CompletionTest(ShellFilesTest):
    def check_tabs(self, shell):
        with terminal_shell.TerminalShell(
            shell, self.completions, self.work, self.environment()
        ) as terminal:
            for typed, line in (
                ("distbench run_t", "distbench run_tests "),
                ("distbench check_test my_", "distbench check_test "
                                             "my_test.config "),
                ("distbench run_tests --inf", "distbench run_tests --infile="),
                (
                    "distbench run_tests --infile=my_",
                    "distbench run_tests --infile=my_test.config ",
                ),
                (
                    "distbench report a.pb --format=ht",
                    "distbench report a.pb --format=html ",
                ),
                (
                    "distbench status --test_sequencer=host:1 --tls_k",
                    "distbench status --test_sequencer=host:1 --tls_key=",
                ),
                ("test_builder cliq", "test_builder clique "),
                (
                    "test_builder clique:grpc:node_c",
                    "test_builder clique:grpc:node_count=",
                ),
                ("test_builder --dry", "test_builder --dry_run "),
            ):
                with self.subTest(typed=typed):
                    self.assertEqual(terminal.line_after_tab(typed), line)
            terminal.wait_for_candidates(
                "distbench runs ", "cancel", "get", "list", "wait"
            )

    def test_bash(self):
        self.check_tabs("bash")

    @unittest.skipUnless(terminal_shell.has("zsh"), "needs zsh")
    def test_zsh(self):
        self.check_tabs("zsh")

    @unittest.skipUnless(terminal_shell.has("fish"), "needs fish")
    def test_fish(self):
        for program in ("distbench", "test_builder"):
            for typed, candidate in {
                "distbench": (
                    ("distbench run_t", r"run_tests\tRuns tests on .*"),
                    ("distbench runs g", r"get\tGets .*"),
                    ("distbench run_tests --infi", r"--infile=\t.*"),
                    ("distbench run_tests --infile=my", r"--infile=my_test.config"
                                                        r"(\t.*)?"),
                    ("distbench check_test my", r"my_test.config(\t.*)?"),
                ),
                "test_builder": (
                    ("test_builder cliq", r"clique\tall-to-all .*"),
                    ("test_builder clique:node_c", r"clique:node_count=\t.*"),
                ),
            }[program]:
                with self.subTest(typed=typed):
                    script = os.path.join(
                        self.completions, "fish", f"{program}.fish"
                    )
                    outcome = self.run_to_end(
                        "fish",
                        "--no-config",
                        "-c",
                        f"source {script}; complete -C '{typed}'",
                        cwd=self.work,
                        env=self.environment(HOME=self.folder),
                    )
                    self.assertRegex(outcome.out, f"(?m)^{candidate}$")

    def test_names_come_from_files(self):
        config = os.path.join(self.work, "my_test.config")
        result = self.path("result.pb.gz")
        outcome = self.distbench(
            "test_preview", config, f"--outfile={result}", "--binary_output"
        )
        self.assertEqual(outcome.status, 0, outcome)
        for flag, name in (("--test", "client_server"), ("--rpc", "ping")):
            self.assertEqual(
                self.complete("distbench", "report", result, flag, ""), [name]
            )

    def test_names_come_from_the_sequencer(self):
        sequencer = self.start_sequencer("--local_nodes=1")
        flag = f"--test_sequencer={sequencer.address}"
        run = self.distbench(
            "run_tests",
            flag,
            "--detach",
            os.path.join(self.work, "my_test.config"),
        ).out.strip()
        self.assertEqual(
            self.complete("distbench", "runs", "get", flag, ""), [run]
        )
        self.assertEqual(
            self.complete(
                "distbench",
                "runs",
                "wait",
                "",
                DISTBENCH_TEST_SEQUENCER=sequencer.address,
            ),
            [run],
        )
        self.assertEqual(
            self.complete("distbench", "node_manager", flag, "node"), ["node0"]
        )

    def test_what_fails_offers_nothing(self):
        self.assertEqual(
            self.complete(
                "distbench", "runs", "get", "--test_sequencer=127.0.0.1:1", ""
            ),
            [],
        )
        self.assertEqual(self.complete("distbench", "runs", "get", ""), [])
        self.assertEqual(self.complete("distbench", "no_such", "--x="), [])

    def test_what_follows_two_dashes_is_a_command_line(self):
        line = ("distbench", "any", "--size=2", "--")
        self.assertEqual(self.complete(*line, "run_t"), ["run_tests"])
        self.assertEqual(
            self.complete(*line, "test_"),
            ["test_sequencer", "test_preview", "test_builder"],
        )
        self.assertNotIn("test_builder", self.complete("distbench", ""))
        self.assertEqual(
            self.complete(*line, "test_builder", "cliq"), ["clique"]
        )


class DefaultsTest(programs.ClusterTest):
    """The connection's flags from the environment and from a file."""

    def status(self, *flags, **variables):
        return self.distbench(
            "status", *flags, env=self.environment(**variables)
        )

    def config_folder(self, text):
        """Returns an XDG_CONFIG_HOME with this config."""
        os.makedirs(self.path("xdg/distbench"), exist_ok=True)
        self.write("xdg/distbench/config", text)
        return self.path("xdg")

    def test_the_sequencer_may_be_left_out(self):
        sequencer = self.start_sequencer()
        address = sequencer.address
        by_variable = self.status(DISTBENCH_TEST_SEQUENCER=address)
        self.assertEqual(by_variable.status, 0, by_variable)
        xdg = self.config_folder(f"test_sequencer = {address}\n")
        by_file = self.status(XDG_CONFIG_HOME=xdg)
        self.assertEqual(by_file.status, 0, by_file)
        # The flag is stronger than the variable, and that than the file.
        by_flag = self.status(
            f"--test_sequencer={address}", DISTBENCH_TEST_SEQUENCER="nobody:1"
        )
        self.assertEqual(by_flag.status, 0, by_flag)
        self.config_folder("test_sequencer = nobody:1\n")
        stronger = self.status(
            DISTBENCH_TEST_SEQUENCER=address, XDG_CONFIG_HOME=xdg
        )
        self.assertEqual(stronger.status, 0, stronger)

    def test_missing_and_wrong_values_name_what_to_change(self):
        missing = self.status()
        self.assertEqual(missing.status, 1, missing)
        self.assertIn("DISTBENCH_TEST_SEQUENCER can set it", missing.err)
        wrong = self.status(DISTBENCH_TEST_SEQUENCER="nowhere")
        self.assertEqual(wrong.status, 1, wrong)
        self.assertIn('DISTBENCH_TEST_SEQUENCER: "nowhere" is not', wrong.err)
        xdg = self.config_folder("test_sequencer = a:1\nport = 3\n")
        unknown = self.status(XDG_CONFIG_HOME=xdg)
        self.assertEqual(unknown.status, 1, unknown)
        self.assertIn(f'{xdg}/distbench/config:2: there is no', unknown.err)
        self.config_folder("tls_ca = ca.crt\n")
        absent = self.status("--test_sequencer=a:1", XDG_CONFIG_HOME=xdg)
        self.assertEqual(absent.status, 1, absent)
        self.assertIn(
            f"--tls_ca={xdg}/distbench/ca.crt is from "
            f"{xdg}/distbench/config:1",
            absent.err,
        )

    def test_errors_about_something_else_do_not_name_them(self):
        infile = self.write("bad.config", "tests { name: 1 }")
        outcome = self.distbench(
            "run_tests",
            infile,
            env=self.environment(DISTBENCH_TEST_SEQUENCER="127.0.0.1:1"),
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("bad.config:1:", outcome.err)
        self.assertNotIn("DISTBENCH_TEST_SEQUENCER", outcome.err)

    def test_what_needs_no_connection_ignores_them(self):
        xdg = self.config_folder("nonsense\n")
        infile = self.write("my_test.config", TEST)
        outcome = self.distbench(
            "check_test", infile, env=self.environment(XDG_CONFIG_HOME=xdg)
        )
        self.assertEqual(outcome.status, 0, outcome)

    def test_test_builder_has_them_too(self):
        variables = self.environment(DISTBENCH_TEST_SEQUENCER="127.0.0.1:1")
        printed = self.run_to_end(
            programs.TEST_BUILDER, "clique", env=variables
        )
        self.assertEqual(printed.status, 0, printed)
        run = self.run_to_end(
            programs.TEST_BUILDER,
            "clique",
            "-o",
            self.path("results"),
            env=variables,
        )
        self.assertEqual(run.status, 1, run)
        self.assertIn("is from DISTBENCH_TEST_SEQUENCER", run.err)
        written = self.run_to_end(
            programs.TEST_BUILDER,
            "clique",
            "-s",
            "",
            "-o",
            self.path("configs"),
            env=variables,
        )
        self.assertEqual(written.status, 0, written)


class ManyProgramsTest(programs.ClusterTest):
    """What all programs have."""

    def test_versions(self):
        for program in (programs.DISTBENCH, programs.TEST_BUILDER):
            outcome = self.run_to_end(program, "--version")
            self.assertEqual(outcome.status, 0, outcome)
            self.assertRegex(outcome.out, VERSION_LINE)

    def test_quiet_leaves_out_progress_only(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        infile = self.write("my_test.config", TEST)
        flag = f"--test_sequencer={sequencer.address}"
        for arguments in (
            ("run_tests", infile, flag),
            ("test_preview", infile),
        ):
            loud = self.distbench(*arguments)
            self.assertEqual(loud.status, 0, loud)
            self.assertIn("started", loud.err)
            quiet = self.distbench(*arguments, "--quiet")
            self.assertEqual(quiet.status, 0, quiet)
            self.assertEqual(quiet.err, "")
            self.assertIn("Test summary", quiet.out)
        wrong = self.distbench("run_tests", "--quiet", "no_such.config", flag)
        self.assertEqual(wrong.status, 1, wrong)
        self.assertIn("no_such.config", wrong.err)

    def test_test_builder_is_quiet(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        outcome = self.run_to_end(
            programs.TEST_BUILDER,
            "client_server",
            "--quiet",
            "--allow_invalid",
            "-s",
            sequencer.address,
            "-o",
            self.path("results"),
            "-t",
            "1s",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(outcome.err, "")
        self.assertIn("Test summary", outcome.out)

    def test_files_are_arguments(self):
        good = self.write("good.config", TEST)
        bad = self.write("bad.config", "nonsense")
        both = self.distbench("check_test", bad, good)
        self.assertEqual(both.status, 1, both)
        self.assertIn("bad.config", both.err)
        self.assertEqual(both.out, f"Result: {good} parsed successfully.\n")
        for command in (
            ("check_test",),
            ("test_preview",),
            ("run_tests", "--test_sequencer=a:1"),
        ):
            self.assert_one_file(good, *command)


if __name__ == "__main__":
    testing_main.main()
