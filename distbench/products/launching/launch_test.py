# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench launch` with a stand-in for ssh, which runs commands on this host.
distbench/products/launching/ssh/testing/run has the same cases with a real one."""

import os

from tests import programs
from tests import testing_main

import launch_cases

FAKE_SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
case $2 in refused) echo "connect: Connection refused" >&2; exit 255;; esac
# Not exec: what happens to ssh does not happen to the remote command. The kernel,
# for one, may tell a child several times that a program with threads was killed.
sh -c "$3"
exit $?
"""


class LaunchTest(launch_cases.LaunchCases, programs.ProgramTest):
    def setUp(self):
        super().setUp()
        self.ssh = self.write("ssh", FAKE_SSH)
        os.chmod(self.ssh, 0o700)
        self.hosts = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
        self.program = self.install()

    def test_names_wrong_hosts_before_anything_starts(self):
        outcome = self.launch("--", "status", hosts=["refused", "127.0.0.1"])
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("because of 1 of 2 hosts", outcome.err)
        self.assertIn("refused: no ssh server listens there", outcome.err)
        self.assert_all_ends()

    def test_names_every_wrong_line_of_a_file(self):
        hosts = self.write("hosts", "host1\nhost1\nhost2:0\n")
        outcome = self.distbench("launch", f"--hosts={hosts}", "--", "status")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(f"{hosts}:2: host1 is already in {hosts}:1", outcome.err)
        self.assertIn(f'{hosts}:3: "0" is not a port', outcome.err)

    def test_the_other_end_is_not_for_users(self):
        outcome = self.distbench("launched")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("distbench launch has ended", outcome.err)


if __name__ == "__main__":
    testing_main.main()
