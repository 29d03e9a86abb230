# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The recipes for CI systems do what they say: their shell steps run here as a
runner would run them."""

import os
import time
import unittest

import yaml

from tests import programs
from tests import testing_main

GITHUB = "deploy/ci/github/distbench.yml"
GITLAB = "deploy/ci/gitlab/distbench.yml"

# The steps that put the programs on the path; here they are there already.
INSTALLS = "apt-get"

# Short runs of a machine that other tests keep busy: what is tested is which
# steps run, and with which exit status, not how long RPCs take. RPCs after the
# warm-up must succeed, so both are small.
QUICK = {
    "PATTERN": "stochastic:server_count=1:fanout=1x1:warmup_iterations=10",
    "DURATION": "10s" if programs.SANITIZED else "2s",
    "RUNS": "4",  # fewer decide nothing
    "OBJECTIVE": "stochastic_rpc p99<=1h",
    "REGRESSION": "p50>100000%",
}
MISSED = {"OBJECTIVE": "stochastic_rpc p50<=1ns"}


def load(recipe):
    with open(recipe, encoding="utf-8") as file:
        return yaml.safe_load(file)


class RecipeTest(programs.ProgramTest):
    """Runs the steps of a recipe in a folder of their own."""

    def setUp(self):
        super().setUp()
        self.folder = os.path.realpath(self.folder)
        for name, program in (
            ("distbench", programs.DISTBENCH),
            ("test_builder", programs.TEST_BUILDER),
        ):
            os.makedirs(self.path("bin"), exist_ok=True)
            os.symlink(program, self.path(f"bin/{name}"))
        self.workspace = self.path("workspace")
        os.mkdir(self.workspace)

    def job_environment(self, variables, changes):
        settings = {
            **variables,
            "PATH": self.path("bin") + ":" + os.environ["PATH"],
            "HOME": self.folder,
            "DISTBENCH_TEST_SEQUENCER": f"localhost:{programs.free_port()}",
            **QUICK,
            **changes,
        }
        return self.environment(**settings)

    def shell(self, script, environment):
        """Runs one step; returns its exit status, and prints what it printed
        if that is not 0, for who reads the log of a failed test."""
        outcome = self.run_to_end(
            "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script,
            cwd=self.workspace, env=environment,
        )  # fmt: skip
        if outcome.status != 0:
            print(script, outcome)
        return outcome.status

    def expect_valid_defaults(self, variables):
        """What a user copies has a pattern, and judges an RPC of it."""
        made = self.run_to_end(
            programs.TEST_BUILDER, "-t", variables["DURATION"],
            variables["PATTERN"],
        )  # fmt: skip
        self.assertEqual(made.status, 0, made)
        rpc, _ = variables["OBJECTIVE"].split(" ")
        self.assertIn(f'rpc_name: "{rpc}"', made.out)

    def end_of_job(self):
        """A runner removes its container with the sequencer in it."""
        deadline = time.monotonic() + programs.DEADLINE_SECONDS
        while self.leftovers():
            self.assertLess(time.monotonic(), deadline, self.leftovers())
            self._kill_programs()
            time.sleep(0.01)

    def made(self, *names):
        """Which of the files are there, and not empty."""
        return [name for name in names if self.size(name) > 0]

    def size(self, name):
        path = os.path.join(self.workspace, name)
        return os.path.getsize(path) if os.path.exists(path) else 0


class GithubTest(RecipeTest):
    def run_job(self, ref="refs/heads/main", **changes):
        """Returns the status of the first step that failed, or 0."""
        (job,) = load(GITHUB)["jobs"].values()
        environment = self.job_environment(
            {**job["env"], "GITHUB_STEP_SUMMARY": self.path("summary")},
            changes,
        )
        conditions = {
            "always()": lambda failed: True,
            "github.ref == 'refs/heads/main'": lambda failed: (
                not failed and ref == "refs/heads/main"
            ),
            None: lambda failed: not failed,
        }
        failed = 0
        for step in job["steps"]:
            script = step.get("run", "")
            if not script or INSTALLS in script:
                continue
            if conditions[step.get("if")](failed):
                status = self.shell(script, environment)
                failed = failed or status
        self.end_of_job()
        return failed

    def summary(self):
        """What the steps have written for the page of the job."""
        with open(self.path("summary"), encoding="utf-8") as file:
            return file.read()

    def test_runs_are_compared_with_those_of_the_main_branch(self):
        self.assertEqual(self.run_job(), 0)
        names = ("objectives.xml", "report.html", "base.pb.gz")
        self.assertEqual(self.made(*names), list(names))
        self.assertEqual(self.made("changes.xml"), [])

        self.assertEqual(self.run_job(ref="refs/heads/other"), 0)
        names = ("changes.html", "changes.xml")
        self.assertEqual(self.made(*names), list(names))
        self.assertIn("**distbench: passed.**", self.summary())

        # Whatever is not a thousand times as fast counts as a regression.
        os.remove(os.path.join(self.workspace, "report.html"))
        self.assertEqual(self.run_job(REGRESSION="p50>-99.9%"), 2)
        self.assertIn("**distbench: failed.**", self.summary())
        self.assertIn("p50>-99.9%", self.summary())
        self.assertEqual(self.made("report.html"), ["report.html"])

    def test_a_missed_objective_fails_and_leaves_a_report(self):
        self.assertEqual(self.run_job(**MISSED), 2)
        names = ("objectives.xml", "report.html", "new.pb.gz")
        self.assertEqual(self.made(*names), list(names))
        self.assertEqual(self.made("base.pb.gz"), [])

    def test_the_defaults_are_valid(self):
        (job,) = load(GITHUB)["jobs"].values()
        self.expect_valid_defaults(job["env"])

    def step_that_uses(self, action):
        (job,) = load(GITHUB)["jobs"].values()
        (found,) = (
            step for step in job["steps"] if action in step.get("uses", "")
        )
        return found

    def test_all_branches_see_the_base_and_one_makes_it(self):
        save = self.step_that_uses("cache/save")
        restore = self.step_that_uses("cache/restore")["with"]
        self.assertEqual(save["if"], "github.ref == 'refs/heads/main'")
        self.assertEqual(save["with"]["path"], "base.pb.gz")
        self.assertEqual(restore["path"], "base.pb.gz")
        self.assertTrue(save["with"]["key"].startswith(restore["restore-keys"]))

    def test_keeps_what_the_steps_make(self):
        upload = self.step_that_uses("upload-artifact")
        self.assertEqual(upload["if"], "always()")
        self.assertEqual(
            upload["with"]["path"].split(),
            [
                "*.xml",
                "new.pb.gz",
                "changes.html",
                "report.html",
                "sequencer.log",
            ],
        )


class GitlabTest(RecipeTest):
    def run_job(self, branch="main", **changes):
        (job,) = load(GITLAB).values()
        environment = self.job_environment(
            {
                **job["variables"],
                "CI_COMMIT_BRANCH": branch,
                "CI_DEFAULT_BRANCH": "main",
            },
            changes,
        )
        self.assertIn(INSTALLS, "".join(job["before_script"]))
        # A runner makes one script of all lines.
        status = self.shell("\n".join(job["script"]), environment)
        self.assertEqual(
            self.shell("\n".join(job["after_script"]), environment), 0
        )
        self.end_of_job()
        return status

    def test_runs_are_compared_with_those_of_the_default_branch(self):
        self.assertEqual(self.run_job(), 0)
        self.assertEqual(self.made("changes.xml"), [])
        self.assertEqual(self.made("base.pb.gz"), ["base.pb.gz"])

        self.assertEqual(self.run_job(branch="other"), 0)
        names = (
            "changes.html",
            "changes.xml",
            "objectives.xml",
            "report.html",
        )
        self.assertEqual(self.made(*names), list(names))

    def test_a_missed_objective_fails_and_leaves_a_report(self):
        self.assertEqual(self.run_job(**MISSED), 2)
        names = ("objectives.xml", "report.html", "new.pb.gz")
        self.assertEqual(self.made(*names), list(names))
        self.assertEqual(self.made("base.pb.gz"), [])

    def test_the_defaults_are_valid(self):
        (job,) = load(GITLAB).values()
        self.expect_valid_defaults(job["variables"])

    def test_all_branches_see_the_base_and_one_makes_it(self):
        (job,) = load(GITLAB).values()
        self.assertIs(job["cache"]["unprotect"], True)
        self.assertEqual(job["cache"]["policy"], "$CACHE_POLICY")
        self.assertEqual(job["variables"]["CACHE_POLICY"], "pull")
        self.assertEqual(
            job["rules"],
            [
                {
                    "if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH",
                    "variables": {"CACHE_POLICY": "pull-push"},
                },
                {"if": "$CI_COMMIT_BRANCH"},
            ],
        )

    def test_keeps_what_the_script_makes(self):
        (job,) = load(GITLAB).values()
        self.assertEqual(job["artifacts"]["when"], "always")
        self.assertEqual(
            job["artifacts"]["paths"],
            ["new.pb.gz", "changes.html", "report.html", "sequencer.log"],
        )


if __name__ == "__main__":
    testing_main.main()
