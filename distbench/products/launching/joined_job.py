# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What tests of `distbench join` share: jobs of real processes on loopback, as
launchers start them."""

from tests import programs

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
