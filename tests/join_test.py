"""Jobs of real processes on loopback, as launchers start them."""

import os
import re
import signal
import socket
import subprocess
import time
import unittest

from tests import programs
from tests import testing_main

# How long a process looks for a leader that will not come.
SHORT = "--join_timeout=3s"


def slurm(rank, size):
    return {
        "SLURM_JOB_ID": "4711",
        "SLURM_STEP_ID": "0",
        "SLURM_PROCID": str(rank),
        "SLURM_NTASKS": str(size),
        "SLURM_JOB_PARTITION": "fast",
    }


def kubernetes(rank, size):
    return {
        "JOB_COMPLETION_INDEX": str(rank),
        "DISTBENCH_SIZE": str(size),
        "DISTBENCH_NODE_ATTRIBUTES": f"zone=z{rank},partition=fast",
    }


def open_mpi(rank, size):
    return {
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size),
        "DISTBENCH_NODE_ATTRIBUTES": "partition=fast",
    }


class JoinTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        self.secret = self.make_secret("secret")
        self.rendezvous = f"--rendezvous={self.secret}"

    def make_secret(self, name, *flags):
        path = self.path(name)
        outcome = self.distbench("make_secret", path, *flags)
        self.assertEqual(outcome.status, 0, outcome)
        return path

    def start_rank(self, variables, *flags, **popen_arguments):
        return self.start(
            programs.DISTBENCH,
            "join",
            "--listen=127.0.0.1",
            *flags,
            env=self.environment(**variables),
            **popen_arguments,
        )

    def start_job(self, size, *flags, launcher=slurm):
        return [
            self.start_rank(
                launcher(rank, size),
                f"--secret={self.secret}",
                self.rendezvous,
                *flags,
            )
            for rank in range(size)
        ]

    def config(self, iterations="max_iteration_count: 100"):
        text = programs.client_server_config(iterations)
        return self.write("test.config", text)

    def assert_refused(self, variables, flags, pattern):
        """The process says what is wrong, and ends before any traffic."""
        outcome = self.start_rank(variables, *flags).wait()
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(outcome.err, pattern)
        self.assertEqual(outcome.out, "", outcome)
        return outcome


class JobTest(JoinTest):
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


class EndTest(JoinTest):
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


class RefusalTest(JoinTest):
    def test_places_that_cannot_be(self):
        for variables, flags, pattern in (
            ({}, [], "nothing says which .*--rank=R .*--size=N"),
            ({}, ["--rank=3", "--size=3"], "--rank=3 is not a rank .*0 to 2"),
            ({"JOB_COMPLETION_INDEX": "1"}, [], "--size=N or DISTBENCH_SIZE=N"),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, [], "batch script"),
            (slurm(0, 2), ["--plain"], "nothing says where rank 0 is"),
            (
                slurm(0, 2),
                ["--leader=a", "--rendezvous=/tmp"],
                "--leader and --rendezvous both",
            ),
            (
                {"PMI_RANK": "1", "PMI_SIZE": "2", **slurm(0, 2)},
                [],
                "two launchers contradict",
            ),
            (
                {},
                ["--rank=0", "--size=1", "--node_on_leader=false", "--plain"],
                "has no node",
            ),
            (
                slurm(0, 2),
                [self.rendezvous, "--plain", "node3"],
                "named after its rank",
            ),
            (
                slurm(0, 2),
                [self.rendezvous, "--plain", "--", "run_test"],
                "run_test.* is no command that a job can run.*run_tests",
            ),
            (
                slurm(0, 2),
                [self.rendezvous, "--plain", "--", "join"],
                "join.* is no command that a job can run",
            ),
            (
                {**slurm(0, 2), "DISTBENCH_NODE_ATTRIBUTES": "zone"},
                [self.rendezvous, "--plain"],
                "DISTBENCH_NODE_ATTRIBUTES=zone: ",
            ),
            (
                slurm(0, 2),
                ["--rendezvous=/no/such", "--plain"],
                "--rendezvous=/no/such: No such file",
            ),
        ):
            with self.subTest(flags=flags, variables=variables):
                self.assert_refused(variables, flags, pattern)

    def test_secrets_that_cannot_be_used(self):
        unprotected = self.make_secret("unprotected")
        os.chmod(unprotected, 0o755)
        expired = self.make_secret("expired", "--valid_for=1s")
        self.wait_until_expired(f"{expired}/tls.crt")
        for flags, pattern in (
            ([], "needs a secret.*make_secret.*--plain"),
            (["--secret=/no/such"], "--secret=/no/such: .*No such file"),
            ([f"--secret={unprotected}"], "mode 0755.*chmod 700"),
            ([f"--secret={expired}"], "expired on .*make_secret"),
            ([f"--secret={expired}", "--plain"], "exclude each other"),
        ):
            for rank in (0, 1):
                with self.subTest(flags=flags, rank=rank):
                    self.assert_refused(
                        slurm(rank, 2), [self.rendezvous, *flags], pattern
                    )

    def wait_until_expired(self, certificate):
        check = ["openssl", "x509", "-noout", "-checkend", "0", "-in"]
        deadline = time.monotonic() + programs.DEADLINE_SECONDS
        while time.monotonic() < deadline:
            check_end = subprocess.run(
                [*check, certificate], capture_output=True, check=False
            )
            if check_end.returncode != 0:
                return
        raise AssertionError(f"{certificate} does not expire")

    def test_secret_of_another_job_is_said_on_both_sides(self):
        other = self.make_secret("other")
        leaders = []
        for leader_flags, flags, pattern in (
            (
                [f"--secret={self.secret}"],
                [f"--secret={other}"],
                "does not have the same secret.*other/(ca|tls).crt",
            ),
            (
                [f"--secret={self.secret}"],
                ["--plain"],
                "has the job's secret.*give it --secret",
            ),
            (
                ["--plain"],
                [f"--secret={self.secret}"],
                "does not have the same secret.*does not answer with TLS"
                ".*was it started with --plain",
            ),
        ):
            with self.subTest(leader_flags=leader_flags, flags=flags):
                folder = self.path(f"job{len(leaders)}")
                os.mkdir(folder)
                rendezvous = f"--rendezvous={folder}"
                leader = self.start_rank(
                    slurm(0, 2), rendezvous, "--join_timeout=10s", *leader_flags
                )
                leaders.append(leader)
                leader.wait_for("rank 0 of 2 leads at", stream="err")
                outcome = self.assert_refused(
                    slurm(1, 2), [rendezvous, SHORT, *flags], pattern
                )
                self.assertNotIn("--tls_", outcome.err)
        # Their times run out while the others are tried.
        for leader in leaders:
            outcome = leader.wait()
            self.assertEqual(outcome.status, 1, outcome)
            self.assertRegex(
                outcome.err, "rank 1 of 2 did not join within 10s; "
            )

    def test_leaders_that_do_not_appear(self):
        port = programs.free_port()
        for flags, pattern in (
            (["--leader=no.such.host.invalid:1"], "no.such.host.invalid:1"),
            ([f"--leader=127.0.0.1:{port}"], f"127.0.0.1:{port} "),
            (
                [self.rendezvous],
                "rank 0 has not written its address to "
                + re.escape(self.secret)
                + "/leader",
            ),
        ):
            with self.subTest(flags=flags):
                self.assert_refused(
                    slurm(1, 2),
                    ["--plain", SHORT, *flags],
                    f"rank 1 of 2 has found no leader within 3s: .*{pattern}",
                )

    def test_what_an_earlier_leader_left_is_no_leader(self):
        with open(f"{self.secret}/leader", "w", encoding="utf-8") as file:
            file.write(f"127.0.0.1:{programs.free_port()}\n")
        node = self.start_rank(
            slurm(1, 2), f"--secret={self.secret}", self.rendezvous
        )
        leader = self.start_rank(
            slurm(0, 2),
            f"--secret={self.secret}",
            self.rendezvous,
            "--",
            "status",
        )
        for rank in (leader, node):
            self.assertEqual(rank.wait().status, 0, rank.text("err"))

    def test_rank_that_is_started_twice(self):
        ranks = self.start_job(3)
        for rank in ranks:
            rank.wait_for("joined", stream="err")
        self.assert_refused(
            slurm(1, 3),
            [self.rendezvous, f"--secret={self.secret}"],
            "rank 1 of 3 cannot join: .*node1 is registered already.*only once",
        )
        self.assertEqual(ranks[0].stop().status, 0)

    def test_leader_that_is_started_twice(self):
        flags = [self.rendezvous, f"--secret={self.secret}"]
        first = self.start_rank(slurm(0, 2), *flags)
        first.wait_for("rank 0 of 2 leads at", stream="err")
        second = self.start_rank(slurm(0, 2), *flags)
        outcome = first.wait()
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(outcome.err, "another rank 0 has written its address")
        # The other one can still lead.
        node = self.start_rank(slurm(1, 2), *flags)
        second.wait_for("all 2 processes have joined", stream="err")
        self.assertEqual(second.stop().status, 0)
        self.assertEqual(node.wait().status, 0)

    def test_port_of_another_job(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assert_refused(
                {},
                [
                    "--rank=0",
                    "--size=1",
                    "--plain",
                    f"--leader=127.0.0.1:{port}",
                ],
                f"{port}.*--port.*--rendezvous",
            )


class MakeSecretTest(programs.ProgramTest):
    def test_openssl_agrees(self):
        secret = self.path("secret")
        outcome = self.distbench("make_secret", secret, "--valid_for=2d")
        self.assertEqual((outcome.status, outcome.out), (0, ""), outcome)
        verified = subprocess.run(
            [
                "openssl",
                "verify",
                "-x509_strict",
                "-verify_hostname",
                "distbench-job",
                "-CAfile",
                f"{secret}/ca.crt",
                f"{secret}/tls.crt",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(verified.returncode, 0, verified)

    def test_wrong_use_is_refused(self):
        secret = self.path("secret")
        for flags, pattern in (
            ([], "DIR"),
            ([secret, "--valid_for=soon"], "soon.* is not a duration"),
            ([secret, "--valid_for=0d"], "cannot be valid for 0"),
            ([secret, "--valid_for=99999d"], "cannot be valid for"),
            ([self.path("no/such")], "no/such: cannot be made"),
        ):
            with self.subTest(flags=flags):
                outcome = self.distbench("make_secret", *flags)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertRegex(outcome.err, pattern)
        self.assertFalse(os.path.exists(secret))


if __name__ == "__main__":
    testing_main.main()
