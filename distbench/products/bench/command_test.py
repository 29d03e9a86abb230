# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench bench` on clusters that it starts itself, and its result files."""

import os
import re
import select
import signal
import tarfile
import time

from tests import programs
from tests import testing_main

SHORT = "max_iteration_count: 100"

JOBS = """
- name: ping
  description: A test by name
  vars: ['objective=ping p50<=60s', id]
  args: ['run:infile={dir}/short.config,id={id},slo={objective}']
"""


class BenchTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        self.infile = self.write(
            "short.config", programs.client_server_config(SHORT)
        )
        self.result = self.path("result.pb.gz")
        self.job = f"run:infile={self.infile}"

    def bench(self, *arguments, result=None):
        return self.distbench("bench", "-r", result or self.result, *arguments)

    def test_its_clusters_ignore_the_connection_of_the_user(self):
        outcome = self.distbench(
            "bench",
            "-r",
            self.result,
            "run",
            self.job,
            env=self.environment(
                DISTBENCH_TLS_CA="/nowhere", DISTBENCH_TLS_NAME="nobody"
            ),
        )
        self.assertEqual(outcome.status, 0, outcome)

    def test_nobody_else_can_use_its_clusters(self):
        endless = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        bench = self.start_bench("run", f"run:infile={endless}")
        node = self.wait_for_node()
        address = re.search(r"--test_sequencer=(\S+)", node)[1]
        secret = re.findall(r"--tls_\w+=\S+", node)
        self.wait_for_traffic(address, *secret)
        stranger = self.distbench("status", f"--test_sequencer={address}")
        self.assertEqual(stranger.status, 1, stranger)
        self.assertIn("requires TLS", stranger.err)
        bench.stop(signal.SIGINT)

    def wait_for_node(self):
        """Returns the command line of a node manager, once there is one."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while time.monotonic() < end:
            for command in self.leftovers().values():
                if " node_manager " in command:
                    return command
            select.select([], [], [], 0.05)
        raise AssertionError("no node manager runs")

    def start_bench(self, *arguments):
        return self.start(
            programs.DISTBENCH, "bench", "-r", self.result, *arguments
        )

    def listed(self):
        """Returns the states and titles of the jobs in the result file."""
        outcome = self.bench("list")
        self.assertEqual(outcome.status, 0, outcome)
        return [
            (line.split()[1], line.split("  ")[-1])
            for line in outcome.out.splitlines()
        ]

    def wait_for_nothing_running(self):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while self.leftovers():
            self.assertLess(time.monotonic(), end, self.leftovers())
            select.select([], [], [], 0.05)

    def assert_refused(self, outcome, *texts):
        self.assertEqual(outcome.status, 1, outcome)
        for text in texts:
            self.assertIn(text, outcome.err)

    def test_runs_jobs_once(self):
        outcome = self.bench("run", self.job, self.job + ",id=again")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("Job 1 of 2: run\n", outcome.err)
        self.assertRegex(outcome.out, r"\[run result\] \d{4}-\d\d-\d\d ")
        self.assertIn('[run result] "again"', outcome.out)
        self.assertIn("System info: kernel=", outcome.out)
        self.assertIn("ping", outcome.out)
        self.assertEqual(
            self.listed(), [("done", "run"), ("done", 'run "again"')]
        )

        outcome = self.bench("run", self.job, self.job + ",id=third")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("run is done already; skipped", outcome.err)
        self.assertEqual(len(self.listed()), 3)
        self.assert_nothing_runs()

    def test_goes_on_after_it_was_killed(self):
        second = self.write(
            "second.config", programs.client_server_config(programs.ENDLESS)
        )
        arguments = ("run", self.job, f"run:id=second,infile={second}")
        bench = self.start_bench(*arguments)
        bench.wait_for(r"Job 2 of 2: run \"second\"", "err")
        bench.kill()
        # What it had started ends with it.
        self.wait_for_nothing_running()
        self.assertEqual(
            [state for state, _ in self.listed()], ["done", "cut"]
        )

        self.write("second.config", programs.client_server_config(SHORT))
        outcome = self.bench(*arguments)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("run is done already; skipped", outcome.err)
        self.assertEqual(
            self.listed(), [("done", "run"), ("done", 'run "second"')]
        )

    def test_a_signal_keeps_what_was_measured(self):
        endless = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        bench = self.start_bench("run", f"run:infile={endless}", self.job)
        bench.wait_for(r"Job 1 of 2", "err")
        # Another process must not touch the file meanwhile.
        self.assert_refused(
            self.bench("run", self.job), "another distbench works on"
        )
        outcome = bench.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("the same command continues", outcome.err)
        self.assertEqual(self.listed(), [("cut", "run")])
        self.assert_nothing_runs()

    def test_a_missed_objective_is_a_result(self):
        missed = self.job + ",slo=ping p50<=1ns"
        for _ in range(2):  # also if the job is skipped
            self.assertEqual(self.bench("run", missed).status, 2)
        self.assertEqual(self.listed(), [("done", "run")])

    def test_changed_tests_are_not_mistaken_for_the_same(self):
        self.assertEqual(self.bench("run", self.job).status, 0)
        self.write(
            "short.config",
            programs.client_server_config("max_iteration_count: 7"),
        )
        self.assert_refused(
            self.bench("run", self.job), "its tests have changed since"
        )

    def test_reports(self):
        self.assertEqual(
            self.bench("run", self.job, self.job + ",id=x").status, 0
        )
        chosen = self.bench("format", "run:id=x")
        self.assertEqual(chosen.status, 0, chosen)
        self.assertEqual(chosen.out.count("run result]"), 1)
        everything = self.bench("format")
        self.assertEqual(everything.out.count("run result]"), 2)
        summary = self.bench("summary")
        self.assertRegex(
            summary.out,
            r'(?m)^run "x"\n  client_server: ping: rate \d\S*, p50 \d.*, p99 \d',
        )

        study = self.bench("study")
        self.assertEqual(study.status, 0, study)
        self.assertEqual(self.bench("format").out, everything.out)

    def test_merges_files(self):
        other = self.path("other.pb")
        merged = self.path("merged.pb.gz")
        self.assertEqual(self.bench("run", self.job).status, 0)
        self.assertEqual(self.bench("run", self.job, result=other).status, 0)
        outcome = self.bench("merge", self.result, other, result=merged)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(f"run from {self.result}\n", outcome.out)
        self.assertIn(f"run #2 from {other}\n", outcome.out)
        self.assert_refused(
            self.bench("merge", self.result, result=merged), "exists already"
        )
        self.assert_refused(
            self.bench(
                "merge", other, other, result=self.path("third.pb.gz")
            ),
            "leave one of these files out",
        )

    def test_packs_for_others(self):
        self.assertEqual(self.bench("run", self.job).status, 0)
        outcome = self.bench("pack")
        self.assertEqual(outcome.status, 0, outcome)
        path = self.path("result.tar.gz")
        self.assertEqual(outcome.out, path + "\n")
        with tarfile.open(path) as archive:
            names = archive.getnames()
            archive.extract("result/01_run/results.pb", self.folder)
        self.assertIn("result/bench.pb", names)
        self.assertIn("result/01_run/tests.config", names)
        self.assertIn("result/report.txt", names)
        report = self.distbench(
            "report", self.path("result/01_run/results.pb")
        )
        self.assertEqual(report.status, 0, report)
        self.assertIn("ping", report.out)
        self.assert_refused(
            self.bench("pack", "--outfile", self.result),
            "would overwrite --result",
        )
        self.assertEqual(self.listed(), [("done", "run")])

    def test_an_archive_unpacks_below_its_folder(self):
        result = self.path("...pb")
        self.assertEqual(self.bench("run", self.job, result=result).status, 0)
        archive = self.path("x.tar.gz")
        outcome = self.bench("pack", "--outfile", archive, result=result)
        self.assertEqual(outcome.status, 0, outcome)
        with tarfile.open(archive) as packed:
            for name in packed.getnames():
                self.assertTrue(name.startswith("bench/"), name)

    def test_runs_named_jobs(self):
        jobs = self.write("jobs.yaml", JOBS)
        listed = self.distbench("bench", "-f", jobs, "list")
        self.assertEqual(listed.status, 0, listed)
        self.assertIn("ping\n    A test by name\n", listed.out)
        self.assertIn("id (must be given)\n", listed.out)
        run = ("bench", "-f", jobs, "run", "ping")
        self.assert_refused(self.distbench(*run), "needs a value of id")
        self.assert_refused(
            self.distbench(*run, "-i", '{"id": "x", "objectiv": 1}'),
            'did you mean "objective"?',
        )
        outcome = self.distbench(
            *run, "-i", '{"id": "x"}', cwd=self.folder
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("Results: ping.pb.gz", outcome.err)
        self.assertTrue(os.path.exists(self.path("ping.pb.gz")))

    def test_refuses_bad_input(self):
        self.assert_refused(
            self.bench("run", "rum:infile=x", "run:infil=x"),
            'did you mean "run"?',
            'did you mean "infile"?',
        )
        self.assert_refused(self.bench("run", "run:infile=/absent"), "/absent")
        self.assert_refused(
            self.bench("run", self.job, self.job), "is given twice"
        )
        self.assert_refused(
            self.distbench("bench", "run", self.job), "name the result file"
        )
        self.assertFalse(os.path.exists(self.result))
        self.write("result.pb.gz", "no result")
        for command in (("list",), ("run", self.job), ("study",)):
            self.assert_refused(self.bench(*command), self.result)
        jobs = self.write("jobs.yaml", "- name: x\n  arg: [y]\n")
        self.assert_refused(
            self.distbench("bench", "-f", jobs, "list"),
            f"{jobs}:2:3: ",
            'did you mean "args"?',
        )

    def test_measures_a_disk_or_says_why_not(self):
        outcome = self.bench(
            "run",
            f"iocost-params:dir={self.folder},size=4MiB,runtime=100ms,"
            "warmup=10ms,depth=2",
        )
        if outcome.status == 1:
            self.assertIn("name a folder", outcome.err)
            return
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(
            outcome.out,
            r"iocost model: rbps=\d+ rseqiops=\d+ rrandiops=\d+\n"
            r" {14}wbps=\d+ wseqiops=\d+ wrandiops=\d+\n"
            r"iocost QoS: rpct=95.00 rlat=\d+ wpct=95.00 wlat=\d+ "
            r"min=\d+\.\d\d max=100.00\n",
        )
        # The scratch file has no name.
        self.assertEqual(
            sorted(os.listdir(self.folder)), ["result.pb.gz", "short.config"]
        )

    def test_the_shipped_jobs_are_read(self):
        outcome = self.distbench("bench", "-f", "workloads/jobs.yaml", "list")
        self.assertEqual(outcome.status, 0, outcome)
        for name in (
            "feedsim_search",
            "feedsim_fixed",
            "feedsim_auto",
            "numa_study",
            "iocost_protection",
        ):
            self.assertIn(f"{name}\n", outcome.out)


if __name__ == "__main__":
    testing_main.main()
