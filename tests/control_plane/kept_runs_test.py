# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs that outlive their clients or sequencers, with real processes."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from tests import programs
from tests import testing_main

COUNTED = "max_iteration_count: 2000 max_parallel_iterations: 10"
SHORT = "max_duration_us: 1500000"
RUN_ID = r"\d{8}-\d{6}-\d{3}"


class RunsTest(programs.ClusterTest):
    def start_cluster(self, *flags):
        sequencer = self.start_sequencer(*flags)
        self.nodes = [self.start_node(sequencer) for _ in range(2)]
        return sequencer

    def results_dir(self):
        return f"--results_dir={self.path('results')}"

    def start_client(self, sequencer, *tests, flags=()):
        """Starts run_tests with tests given as pairs of name and iterations."""
        infile = self.write(
            "_".join(name for name, _ in tests) + ".config",
            "".join(
                programs.client_server_config(i, name) for name, i in tests
            ),
        )
        client = self.start(
            programs.DISTBENCH,
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={infile}",
            *flags,
        )
        client.run_id = client.wait_for(rf"^Run ({RUN_ID})$", "err").group(1)
        return client

    def runs(self, sequencer, action, *arguments):
        return self.distbench(
            "runs", action, *arguments, f"--test_sequencer={sequencer.address}"
        )

    def list_runs(self, sequencer):
        outcome = self.runs(sequencer, "list", "--format=json")
        self.assertEqual(outcome.status, 0, outcome)
        return {run["id"]: run for run in json.loads(outcome.out)["runs"]}

    def wait_for_state(self, sequencer, run_id, state):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while time.monotonic() < end:
            run = self.list_runs(sequencer)[run_id]
            if run["state"] == state:
                return run
        raise AssertionError(f"never {state}: {run}")

    def restart_sequencer(self, sequencer, *flags):
        """Starts another sequencer on the same port; the nodes return to it."""
        port = sequencer.address.rpartition(":")[2]
        restarted = self.start(
            programs.DISTBENCH,
            "test_sequencer",
            f"--port={port}",
            "--listen=127.0.0.1",
            *flags,
        )
        restarted.wait_for(r"^Listening at ")
        restarted.address = sequencer.address
        self.wait_for_nodes(restarted, 2)
        return restarted


class ClientGoneTest(RunsTest):
    def test_killed_client_loses_nothing(self):
        sequencer = self.start_cluster()
        client = self.start_client(sequencer, ("short", SHORT))
        client.wait_for("short: started", "err")
        client.kill()
        outfile = self.path("short.pb")
        waited = self.runs(
            sequencer, "wait", client.run_id, f"--outfile={outfile}"
        )
        self.assertEqual(waited.status, 0, waited)
        self.assertRegex(waited.err, r"\[1/1\] short: done after \d+\.\d s\n")
        got = self.runs(sequencer, "get", client.run_id)
        self.assertEqual(got.status, 0, got)
        self.assertEqual(got.err, "")
        self.assertEqual(got.out, waited.out)
        report = self.distbench("report", outfile)
        self.assertEqual(report.status, 0, report)
        self.assertIn(got.out.removeprefix("Test summary:\n"), report.out)

    def test_detached_run_is_had_later(self):
        sequencer = self.start_cluster()
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        detached = self.run_tests(
            sequencer, infile, "--detach", "--label=nightly"
        )
        self.assertEqual(detached.status, 0, detached)
        self.assertRegex(detached.out, rf"^{RUN_ID}\n$")
        self.assertEqual(detached.err, "")
        run_id = detached.out.strip()
        waited = self.runs(sequencer, "wait", run_id)
        self.assertEqual(waited.status, 0, waited)
        run = self.list_runs(sequencer)[run_id]
        self.assertEqual(run["label"], "nightly")
        self.assertEqual(run["state"], "done")
        self.assertEqual(run["test_names"], ["client_server"])
        table = self.runs(sequencer, "list").out
        self.assertRegex(
            table,
            rf"(?m)^{run_id}  done +.* 127.0.0.1  nightly  client_server$",
        )

        refused = self.run_tests(
            sequencer, infile, "--detach", "--outfile=x.pb"
        )
        self.assertEqual(refused.status, 1, refused)
        self.assertIn("--outfile does not go with --detach", refused.err)

    def test_interrupt_keeps_what_was_measured(self):
        sequencer = self.start_cluster()
        outfile = self.path("endless.pb")
        client = self.start_client(
            sequencer,
            ("endless", programs.ENDLESS),
            flags=[f"--outfile={outfile}"],
        )
        self.wait_for_traffic(sequencer.address)
        outcome = client.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("distbench: the tests were cancelled\n", outcome.err)
        self.assertRegex(outcome.out, r"ping: N: \d+ min:")
        report = self.distbench("report", outfile)
        self.assertEqual(report.status, 3, report)
        self.assertIn("the run was cancelled by 127.0.0.1", report.out)
        run = self.wait_for_state(sequencer, client.run_id, "cancelled")
        self.assertGreater(run["result_bytes"], 0)

    def test_second_interrupt_exits_at_once(self):
        sequencer = self.start_cluster()
        client = self.start_client(sequencer, ("endless", programs.ENDLESS))
        client.wait_for("endless: started", "err")
        sequencer.send(signal.SIGSTOP)
        try:
            client.send(signal.SIGINT)
            # Pending signals of the same kind count once.
            client.send(signal.SIGTERM)
            begin = time.monotonic()
            self.assertEqual(client.wait().status, 3)
            self.assertLess(time.monotonic() - begin, 3)
        finally:
            sequencer.send(signal.SIGCONT)

    def test_interrupted_wait_leaves_the_run_alone(self):
        sequencer = self.start_cluster()
        client = self.start_client(sequencer, ("endless", programs.ENDLESS))
        client.wait_for("endless: started", "err")
        waiting = self.start(
            programs.DISTBENCH,
            "runs",
            "wait",
            client.run_id,
            f"--test_sequencer={sequencer.address}",
        )
        waiting.wait_for("endless: started", "err")
        outcome = waiting.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("the run goes on", outcome.err)
        self.assertTrue(client.running())


class QueueTest(RunsTest):
    def test_runs_wait_jump_and_are_cancelled(self):
        sequencer = self.start_cluster()
        running = self.start_client(sequencer, ("endless", programs.ENDLESS))
        running.wait_for("endless: started", "err")
        first = self.start_client(sequencer, ("first", COUNTED))
        first.wait_for(r"^Waiting, 1 run ahead$", "err")
        second = self.start_client(sequencer, ("second", COUNTED))
        second.wait_for(r"^Waiting, 2 runs ahead$", "err")
        urgent = self.start_client(
            sequencer, ("urgent", COUNTED), flags=["--preempt", "--label=now"]
        )
        urgent.wait_for(r"^Waiting, 1 run ahead$", "err")
        second.wait_for(r"^Waiting, 3 runs ahead$", "err")

        status = self.distbench(
            "status", f"--test_sequencer={sequencer.address}"
        )
        self.assertRegex(
            status.out,
            r"Running: endless, for \d+ s of 600 s, .*\n"
            "Waiting runs: 3\n"
            f"  {urgent.run_id} of 127.0.0.1, now: urgent\n"
            f"  {first.run_id} of 127.0.0.1: first\n"
            f"  {second.run_id} of 127.0.0.1: second\n$",
        )
        cancelled = self.runs(sequencer, "cancel", first.run_id)
        self.assertEqual(cancelled.status, 0, cancelled)
        outcome = first.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn(
            "distbench: the run was cancelled by 127.0.0.1\n", outcome.err
        )
        self.assertEqual(
            self.runs(sequencer, "cancel", running.run_id).status, 0
        )
        self.assertEqual(running.wait().status, 3)
        for client in (urgent, second):
            self.assertEqual(client.wait().status, 0)
        runs = self.list_runs(sequencer)
        self.assertLess(
            runs[urgent.run_id]["start_time"], runs[second.run_id]["start_time"]
        )
        self.assertEqual(
            [
                runs[client.run_id]["state"]
                for client in (running, first, urgent)
            ],
            ["cancelled", "cancelled", "done"],
        )

    def test_mistakes_are_explained(self):
        sequencer = self.start_cluster()
        self.assertEqual(self.runs(sequencer, "list").out, "No runs\n")
        nothing = self.runs(sequencer, "get", "20260131-235959-000")
        self.assertEqual(nothing.status, 1)
        self.assertIn("the test sequencer has none", nothing.err)

        client = self.start_client(sequencer, ("endless", programs.ENDLESS))
        early = self.runs(sequencer, "get", client.run_id)
        self.assertEqual(early.status, 1, early)
        self.assertIn(
            "has not ended; distbench runs wait waits for it", early.err
        )
        typo = client.run_id[:-1] + "7"
        for action in ("get", "wait", "cancel"):
            outcome = self.runs(sequencer, action, typo)
            self.assertEqual(outcome.status, 1, outcome)
            self.assertIn(client.run_id, outcome.err)
        self.runs(sequencer, "cancel", client.run_id)
        client.wait()
        late = self.runs(sequencer, "cancel", client.run_id)
        self.assertEqual(late.status, 1, late)
        self.assertIn("has ended", late.err)


class SequencerMissingTest(programs.ProgramTest):
    def test_a_node_soon_says_that_it_waits_for_its_sequencer(self):
        address = f"localhost:{programs.free_port()}"
        node = self.start(
            programs.DISTBENCH, "node_manager", f"--test_sequencer={address}"
        )
        node.wait_for(
            f"no test sequencer has answered at {address} for .*Connection "
            "refused.*will keep trying for 1m in all",
            "err",
        )


class SequencerGoneTest(RunsTest):
    def test_killed_sequencer_says_later_what_it_was_doing(self):
        sequencer = self.start_cluster(self.results_dir())
        client = self.start_client(
            sequencer, ("first", COUNTED), ("second", programs.ENDLESS)
        )
        client.wait_for("second: started", "err")
        sequencer.kill()
        outcome = client.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn(
            f"  distbench runs wait {client.run_id} "
            f"--test_sequencer={sequencer.address}\n",
            outcome.err,
        )

        sequencer = self.restart_sequencer(sequencer, self.results_dir())
        sequencer.wait_for(
            rf"^Run {client.run_id} was interrupted: the test sequencer ended "
            "in the middle of test 2 of 2, second; distbench runs get has its "
            "earlier tests$",
            "err",
        )
        run = self.list_runs(sequencer)[client.run_id]
        self.assertEqual(run["state"], "interrupted")
        for action in ("get", "wait"):
            got = self.runs(sequencer, action, client.run_id)
            self.assertEqual(got.status, 3, got)
            self.assertEqual(got.out.count("Test summary:"), 1, got)
            self.assertIn("in the middle of test 2 of 2, second", got.err)
        # The results of the first test are what the client had seen of it.
        self.assertEqual(got.out, outcome.out)
        # The cluster is usable again.
        infile = self.write("a.config", programs.client_server_config(COUNTED))
        self.assertEqual(self.run_tests(sequencer, infile).status, 0)

    def test_signal_stores_what_was_measured(self):
        sequencer = self.start_cluster(self.results_dir())
        client = self.start_client(sequencer, ("endless", programs.ENDLESS))
        client.wait_for("endless: started", "err")
        waiting = self.start_client(sequencer, ("waiting", COUNTED))
        waiting.wait_for("Waiting, 1 run ahead", "err")
        self.wait_for_traffic(sequencer.address)
        begin = time.monotonic()
        self.assertEqual(sequencer.stop(signal.SIGTERM).status, 0)
        self.assertLess(time.monotonic() - begin, 15)
        outcome = client.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("the test sequencer is shutting down", outcome.err)
        self.assertRegex(outcome.out, r"ping: N: \d+ min:")
        self.assertEqual(waiting.wait().status, 3)

        sequencer = self.restart_sequencer(sequencer, self.results_dir())
        runs = self.list_runs(sequencer)
        self.assertEqual(runs[client.run_id]["state"], "interrupted")
        self.assertEqual(runs[waiting.run_id]["state"], "cancelled")
        got = self.runs(sequencer, "get", client.run_id)
        self.assertEqual(got.status, 3, got)
        self.assertEqual(got.out, outcome.out)

    def test_kept_results_are_read_while_the_sequencer_runs(self):
        sequencer = self.start_cluster(self.results_dir())
        folder = self.path("results")
        for name in ("first", "second"):
            infile = self.write(
                "a.config", programs.client_server_config(COUNTED, name)
            )
            self.assertEqual(self.run_tests(sequencer, infile).status, 0)
        client = self.start_client(sequencer, ("endless", programs.ENDLESS))
        client.wait_for("endless: started", "err")
        report = self.distbench("report", folder)
        self.assertEqual(report.status, 0, report)
        self.assertIn("Test: first\n", report.out)
        self.assertIn("Test: second\n", report.out)
        self.assertNotIn("endless", report.out)
        first = min(name for name in os.listdir(folder) if ".result" in name)
        one = os.path.join(folder, first)
        compared = self.distbench("compare", one, one)
        self.assertEqual(compared.status, 0, compared)
        running = self.distbench(
            "report", os.path.join(folder, f"{client.run_id}.result")
        )
        self.assertEqual(running.status, 1, running)

    def test_directory_has_one_sequencer(self):
        self.start_sequencer(self.results_dir())
        outcome = self.distbench(
            "test_sequencer", "--port=0", self.results_dir()
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(
            "another test sequencer keeps its results in ", outcome.err
        )


class NoRoomTest(RunsTest):
    def test_who_follows_gets_all_and_who_is_late_is_told(self):
        sequencer = self.start_cluster("--results_disk=0")
        outfile = self.path("result.pb")
        client = self.start_client(
            sequencer,
            ("first", COUNTED),
            ("second", COUNTED),
            flags=[f"--outfile={outfile}"],
        )
        outcome = client.wait()
        self.assertEqual(outcome.status, 0, outcome)
        report = self.distbench("report", outfile)
        self.assertEqual(report.status, 0, report)
        self.assertEqual(len(re.findall(r"ping: N: 2000 ", report.out)), 2)

        # The latest result is kept until the next run ends.
        get = self.runs(sequencer, "get", client.run_id)
        self.assertEqual(get.status, 0, get)
        self.start_client(sequencer, ("third", COUNTED)).wait()
        late = self.runs(sequencer, "get", client.run_id)
        self.assertEqual(late.status, 3, late)
        self.assertIn("--results_disk", late.err)


class FullDiskTest(RunsTest):
    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        probe = subprocess.run(
            self.on_small_disk("true"),
            capture_output=True,
            text=True,
            check=False,
        )
        if probe.returncode != 0:
            self.skipTest(f"no small disk can be mounted here: {probe.stderr}")

    def on_small_disk(self, *command):
        """Wraps the command in a mount namespace where self.disk has 128 KiB."""
        mount = f'mount -t tmpfs -o size=128k none {self.disk} && exec "$@"'
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        return ["unshare", *user, "--mount", "sh", "-c", mount, "sh", *command]

    def test_full_disk_loses_a_result_by_name_and_not_the_next(self):
        sequencer = self.start(
            *self.on_small_disk(
                programs.DISTBENCH,
                "test_sequencer",
                "--port=0",
                "--listen=127.0.0.1",
                f"--results_dir={self.disk}",
            )
        )
        port = sequencer.wait_for(r"^Listening at 127.0.0.1:(\d+)$").group(1)
        sequencer.address = f"127.0.0.1:{port}"
        self.nodes = [self.start_node(sequencer) for _ in range(2)]
        disk = f"/proc/{sequencer.pid}/root{self.disk}"

        filler = os.path.join(disk, "filler")
        with open(filler, "wb") as file:
            try:
                file.write(bytes(1 << 20))
            except OSError:
                pass  # The disk is full now.
        client = self.start_client(sequencer, ("large", COUNTED))
        outcome = client.wait()
        self.assertEqual(outcome.status, 3, outcome)
        is_lost = "the result of test 1 is lost: .*No space left on device"
        self.assertRegex(outcome.err, is_lost)
        run = self.list_runs(sequencer)[client.run_id]
        self.assertEqual(run["state"], "failed")
        self.assertRegex(run["message"], is_lost)
        got = self.runs(sequencer, "get", client.run_id)
        self.assertEqual(got.status, 3, got)
        self.assertRegex(got.err, is_lost)

        # Once there is room, the next run updates the disk.
        os.remove(filler)
        small = self.start_client(
            sequencer, ("small", "max_iteration_count: 1")
        )
        self.assertEqual(small.wait().status, 0)
        runs = self.list_runs(sequencer)
        self.assertNotIn("message", runs[small.run_id])
        self.assertRegex(runs[client.run_id]["message"], is_lost)
        for run in (client, small):
            self.assertTrue(os.path.exists(f"{disk}/{run.run_id}.run"))
        self.assertEqual(sequencer.stop().status, 0)


if __name__ == "__main__":
    testing_main.main()
