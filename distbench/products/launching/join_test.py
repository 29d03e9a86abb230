# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Jobs of real processes on loopback, as launchers start them."""

import os
import signal
import time

from tests import programs
from tests import testing_main

import joined_job

kubernetes = joined_job.kubernetes
open_mpi = joined_job.open_mpi
slurm = joined_job.slurm


class JobTest(joined_job.JoinTest):
    def test_every_launcher_makes_a_cluster(self):
        for launcher in (slurm, kubernetes, open_mpi):
            with self.subTest(launcher=launcher.__name__):
                outfile = self.path(launcher.__name__)
                ranks = self.start_job(
                    3,
                    "--",
                    "run_tests",
                    f"--infile={self.config()}",
                    f"--outfile={outfile}",
                    launcher=launcher,
                )
                for rank in ranks:
                    outcome = rank.wait()
                    self.assertEqual(outcome.status, 0, outcome)
                self.assertRegex(
                    ranks[0].text("err"), "all 3 processes have joined: 3 nodes"
                )
                self.assertIn("RPC latency summary", ranks[0].text("out"))
                # Only rank 0 prints results.
                self.assertEqual(ranks[1].text("out"), "")
                with open(outfile, encoding="utf-8") as file:
                    result = file.read()
                # The traffic is encrypted, and nothing tells the secret.
                self.assertRegex(result, 'endpoint_address: "tls:')
                self.assertNotIn("PRIVATE KEY", result)
                # The launcher's attributes came with the nodes.
                self.assertIn('value: "fast"', result)
                # Nothing is left for the next job to stumble over.
                self.assertEqual(
                    sorted(os.listdir(self.secret)),
                    ["ca.crt", "tls.crt", "tls.key"],
                )
        self.assert_nothing_runs()

    def test_tcp_traffic_uses_the_secret_too(self):
        config = self.write(
            "tcp.config",
            programs.client_server_config("max_iteration_count: 100").replace(
                "tests {",
                '''tests {
                default_protocol: "p"
                protocol_driver_options { name: "p" protocol_name: "tcp" }''',
                1,
            ),
        )
        outfile = self.path("tcp.out")
        ranks = self.start_job(
            2, "--", "run_tests", f"--infile={config}", f"--outfile={outfile}"
        )
        self.assertEqual(ranks[0].wait().status, 0, ranks[0].text("err"))
        with open(outfile, encoding="utf-8") as file:
            self.assertRegex(file.read(), 'endpoint_address: "tls:')

    def test_status_of_the_command_is_that_of_the_job(self):
        for command, status in (
            (["check_test", "--infile=/no/such/file"], 1),
            (
                [
                    "run_tests",
                    f"--infile={self.config()}",
                    "--slo=ping p99<=1ns",
                ],
                2,
            ),
        ):
            with self.subTest(command=command):
                ranks = self.start_job(2, "--", *command)
                self.assertEqual(ranks[0].wait().status, status)
                self.assertEqual(ranks[1].wait().status, 0)

    def test_command_may_read_stdin(self):
        with open(self.config(), "rb") as config:
            leader = self.start_rank(
                {},
                "--rank=0",
                "--size=1",
                "--plain",
                "--",
                "check_test",
                stdin=config,
            )
            self.assertEqual(leader.wait().status, 0, leader.text("err"))

    def test_too_few_nodes_are_an_error_before_traffic(self):
        config = self.write(
            "big.config",
            programs.client_server_config("max_iteration_count: 1").replace(
                'name: "server" count: 1', 'name: "server" count: 9'
            ),
        )
        ranks = self.start_job(2, "--", "run_tests", f"--infile={config}")
        outcome = ranks[0].wait()
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("the test needs 10 nodes but 2 are", outcome.err)
        # The user did not set the variables of the job, and cannot mend them.
        self.assertNotIn("DISTBENCH_TLS", outcome.err)
        self.assertEqual(ranks[1].wait().status, 0)

    def test_leader_need_not_be_a_node(self):
        ranks = self.start_job(3, "--node_on_leader=false", "--", "status")
        outcome = ranks[0].wait()
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("Nodes: 2\n", outcome.out)
        self.assertNotIn("node0", outcome.out)

    def test_leader_at_a_known_address(self):
        port = programs.free_port()
        flags = [
            f"--leader=127.0.0.1:{port}",
            f"--secret={self.secret}",
            "--size=2",
            "--",
            "status",
        ]
        ranks = [self.start_rank({}, f"--rank={r}", *flags) for r in (1, 0)]
        for rank in ranks:
            self.assertEqual(rank.wait().status, 0, rank.text("err"))

    def test_leader_that_listens_everywhere_says_where_it_is(self):
        leader = self.start(
            programs.DISTBENCH,
            "join",
            "--rank=0",
            "--size=1",
            "--listen=0.0.0.0",
            "--service_address=127.0.0.1",
            self.rendezvous,
            f"--secret={self.secret}",
            "--",
            "status",
            env=self.environment(),
        )
        outcome = leader.wait()
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("rank 0 of 1 leads at 127.0.0.1:", outcome.err)

    def test_test_builder_is_a_command(self):
        os.symlink(programs.TEST_BUILDER, self.path("test_builder"))
        path = self.folder + os.pathsep + os.environ["PATH"]
        leader = self.start_rank(
            {"PATH": path},
            "--rank=0",
            "--size=1",
            f"--secret={self.secret}",
            "--",
            "test_builder",
            "--dry_run",
            "client_server",
        )
        outcome = leader.wait()
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("1 test, at most", outcome.out)

    def test_two_jobs_share_a_host(self):
        jobs = []
        for name in ("one", "two"):
            self.secret = self.make_secret(name)
            self.rendezvous = f"--rendezvous={self.secret}"
            jobs += self.start_job(
                2, "--", "run_tests", f"--infile={self.config()}"
            )
        for rank in jobs:
            self.assertEqual(rank.wait().status, 0, rank.text("err"))


class EndTest(joined_job.JoinTest):
    def start_endless(self, size, *flags):
        """A job whose test runs until it is stopped; returns once it has
        measured something."""
        outfile = self.path("endless.out")
        ranks = self.start_job(
            size,
            *flags,
            "--",
            "run_tests",
            f"--infile={self.config(programs.ENDLESS)}",
            f"--outfile={outfile}",
        )
        address = ranks[0].wait_for(r"leads at (\S+)", stream="err").group(1)
        self.wait_for_traffic(
            address,
            f"--tls_ca={self.secret}/ca.crt",
            f"--tls_cert={self.secret}/tls.crt",
            f"--tls_key={self.secret}/tls.key",
            "--tls_name=distbench-job",
        )
        return ranks, outfile

    def assert_measured(self, outfile):
        with open(outfile, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"succeeded_count: [1-9]")

    def test_sigterm_to_the_leader_keeps_the_result(self):
        ranks, outfile = self.start_endless(2)
        outcome = ranks[0].stop()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertEqual(ranks[1].wait().status, 0, ranks[1].text("err"))
        self.assert_measured(outfile)
        self.assert_nothing_runs()

    def test_signals_to_all_processes_keep_the_result(self):
        # As a scheduler ends a step: every process of it, children too.
        ranks, outfile = self.start_endless(2)
        for pid in self.leftovers():
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(ranks[0].wait().status, 3, ranks[0].text("err"))
        self.assertEqual(ranks[1].wait().status, 0, ranks[1].text("err"))
        self.assert_measured(outfile)
        self.assert_nothing_runs()

    def test_leader_without_a_command_serves_until_sigterm(self):
        ranks = self.start_job(2)
        ranks[0].wait_for("all 2 processes have joined", stream="err")
        self.assertEqual(ranks[0].stop().status, 0)
        self.assertEqual(ranks[1].wait().status, 0)

    def test_node_that_is_told_to_leave_leaves(self):
        ranks = self.start_job(2)
        ranks[0].wait_for("all 2 processes have joined", stream="err")
        self.assertEqual(ranks[1].stop().status, 0)
        self.assertTrue(ranks[0].running())

    def test_nodes_of_a_killed_leader_end_by_themselves(self):
        ranks, _ = self.start_endless(3, "--leader_timeout=1s")
        ranks[0].kill()
        for rank in ranks[1:]:
            outcome = rank.wait()
            self.assertEqual(outcome.status, 3, outcome)
            self.assertRegex(
                outcome.err, r"rank \d of 3: node\d has lost .* for"
            )
        # The command was told to end, too.
        deadline = time.monotonic() + programs.DEADLINE_SECONDS
        while self.leftovers() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assert_nothing_runs()

    def test_killed_node_ends_the_test_and_the_job(self):
        ranks, outfile = self.start_endless(2)
        ranks[1].kill()
        outcome = ranks[0].wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("node1", outcome.out + outcome.err)
        self.assertTrue(os.path.exists(outfile))


if __name__ == "__main__":
    testing_main.main()
