# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What check_host finds: everything that a program can leave behind."""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

from scripts import host_state
from tests import testing_main


class LeftTest(unittest.TestCase):
    def state(self, **kinds):
        return {kind: kinds.get(kind, []) for kind in host_state.KINDS}

    def test_only_what_is_new_is_left(self):
        before = self.state(file=["/tmp/a"], process=["1 old"])
        after = self.state(file=["/tmp/a", "/tmp/b"], process=["2 new"])
        self.assertEqual(
            host_state.left(before, after), ["file: /tmp/b", "process: 2 new"]
        )
        self.assertEqual(host_state.left(after, after), [])

    def test_of_a_new_folder_the_contents_are_not_told(self):
        after = self.state(file=["/tmp/a", "/tmp/a/b", "/tmp/a/b/c"])
        self.assertEqual(host_state.left(self.state(), after), ["file: /tmp/a"])


class StateTest(unittest.TestCase):
    def setUp(self):
        self.before = host_state.state()

    def left(self):
        return host_state.left(self.before, host_state.state())

    def test_a_file(self):
        with tempfile.NamedTemporaryFile(dir="/tmp") as file:
            self.assertIn(f"file: {file.name}", self.left())

    def test_a_process(self):
        with subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
        ) as child:
            self.assertTrue(
                any(line.startswith(f"process: {child.pid} ") for line in self.left())
            )
            child.communicate(b"\n")

    def test_who_asks_is_not_left(self):
        script = (
            "from scripts import host_state; import sys;"
            "sys.exit(any('ancestor of the check' in each"
            " for each in host_state.processes()))"
        )
        command = f"{sys.executable} -c \"{script}\"; exit $? # ancestor of the check"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(["sh", "-c", command], env=environment, check=True)

    def test_a_process_that_only_names_what_is_expected(self):
        command = ["sh", "-c", "read line # /lib/systemd/ bazel("]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
            self.assertTrue(
                any(line.startswith(f"process: {child.pid} ") for line in self.left())
            )
            child.communicate(b"\n")

    def test_sockets(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = f"{server.getsockname()[1]:04X}"
            self.assertIn(f"listening socket: tcp 0100007F:{port}", self.left())
        name = f"\0distbench-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
            self.assertIn(
                f"listening socket: unix @{name[1:]}", self.left()
            )


if __name__ == "__main__":
    testing_main.main()
