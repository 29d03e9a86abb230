# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What `distbench join` and `distbench make_secret` refuse."""

import os
import re
import socket
import subprocess
import time

from tests import programs
from tests import testing_main

import joined_job

SHORT = joined_job.SHORT
slurm = joined_job.slurm


class RefusalTest(joined_job.JoinTest):
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
