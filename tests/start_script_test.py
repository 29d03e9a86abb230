# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""start_distbench_localhost.sh starts all of its processes and stops them."""

import os
import signal
import socket
import time
import unittest

from tests import programs
from tests import testing_main

# 127.0.0.1, ::1 and ::ffff:127.0.0.1 as /proc writes them.
LOOPBACK = {
    "0100007F",
    "0" * 24 + "01000000",
    "0" * 16 + "FFFF0000" + "0100007F",
}

READY = r"are ready at localhost:(\d+)\."


def listening_addresses(pid):
    """Returns addresses of a process's listening TCP sockets, as in /proc."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            continue  # It has been closed meanwhile.
    addresses = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                is_listening = fields[3] == "0A"
                if is_listening and f"socket:[{fields[9]}]" in inodes:
                    addresses.add(fields[1].split(":")[0])
    return addresses


class StartScriptTest(programs.ProgramTest):
    def start_cluster(self, *arguments, **popen_arguments):
        cluster = self.start(
            programs.START_SCRIPT, *arguments, **popen_arguments
        )
        cluster.port = cluster.wait_for(READY).group(1)
        return cluster

    def processes(self, what):
        return [
            pid for pid, text in self.leftovers().items() if f" {what} " in text
        ]

    def test_a_bound_node_for_each_numa_node(self):
        try:
            with open(
                "/sys/devices/system/node/has_cpu", encoding="ascii"
            ) as file:
                numa_nodes = file.read()
        except FileNotFoundError:
            self.skipTest("a kernel without NUMA")
        first = numa_nodes[0]
        cluster = self.start_cluster("--numa", "-p", "0")
        commands = self.leftovers().values()
        nodes = [text for text in commands if " node_manager " in text]
        self.assertIn(f" --numa_node={first} ", nodes[0] + " ")
        self.assertEqual(
            len(nodes), sum("--numa_node=" in text for text in nodes)
        )
        self.assertEqual(cluster.stop().status, 0)
        self.assert_nothing_runs()

    def test_numa_decides_how_many_nodes_there_are(self):
        outcome = self.run_to_end(programs.START_SCRIPT, "--numa", "-n", "3")
        self.assertEqual(outcome.status, 1)
        self.assertIn("leave out -n", outcome.err)

    def test_nodes_are_ready_when_it_says_so(self):
        cluster = self.start_cluster("-n", "3", "-p", "0")
        status = self.distbench(
            "status", f"--test_sequencer=127.0.0.1:{cluster.port}"
        )
        self.assertEqual(status.status, 0, status)
        self.assertIn("Nodes: 3\n", status.out)
        for node in ("node0", "node1", "node2"):
            self.assertIn(f"  {node} on ", status.out)
        self.assertEqual(len(self.processes("test_sequencer")), 1)
        self.assertEqual(len(self.processes("node_manager")), 3)

    def test_allowed_targets_reach_the_sequencer_and_the_nodes(self):
        target = "--allow_target=localhost:1@50"
        help_text = self.distbench("help", "test_sequencer").out
        if "--allow_target" not in help_text:
            self.skipTest("external services are left out")
        self.start_cluster("-n", "2", "-p", "0", "--", target)
        serving = [
            text
            for text in self.leftovers().values()
            if " test_sequencer " in text or " node_manager " in text
        ]
        self.assertEqual(len(serving), 3)
        for text in serving:
            self.assertIn(target, text)

    def test_only_this_machine_can_reach_it(self):
        self.start_cluster("-n", "1", "-p", "0")
        (sequencer,) = self.processes("test_sequencer")
        addresses = listening_addresses(sequencer)
        self.assertTrue(addresses)
        self.assertLessEqual(addresses, LOOPBACK)
        (node,) = self.processes("node_manager")
        self.assertLessEqual(listening_addresses(node), LOOPBACK)

    def test_signals_stop_all_of_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                cluster = self.start_cluster("-p", "0")
                # The script, a sequencer and two nodes, each with an engine
                # that waits for the next test.
                self.wait_for_processes(6)
                outcome = cluster.stop(number)
                self.assertEqual(outcome.status, 0, outcome)
                self.assertEqual(outcome.err, "", outcome)
                self.assert_nothing_runs()

    def wait_for_processes(self, count):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while len(self.leftovers()) < count and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(len(self.leftovers()), count, self.leftovers())

    def test_second_signal_stops_all_of_it_at_once(self):
        cluster = self.start_cluster("-p", "0")
        for pid in self.processes("node_manager"):
            os.kill(pid, signal.SIGSTOP)  # Makes their end take long.
        cluster.send(signal.SIGTERM)
        cluster.wait_for("Stopping the sequencer and its nodes")
        outcome = cluster.stop(signal.SIGTERM)
        self.assertEqual(outcome.status, 0, outcome)
        self.assert_nothing_runs()

    def test_sigint_counts_also_where_a_shell_had_it_ignored(self):
        cluster = self.start_cluster(
            "-n",
            "1",
            "-p",
            "0",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        self.assertEqual(cluster.stop(signal.SIGINT).status, 0)
        self.assert_nothing_runs()

    def test_process_that_dies_takes_the_others_along(self):
        for what, name in (
            ("test_sequencer", "sequencer"),
            ("node_manager", "node"),
        ):
            with self.subTest(what=what):
                cluster = self.start_cluster("-p", "0")
                victim = self.processes(what)[0]
                os.kill(victim, signal.SIGKILL)
                outcome = cluster.wait()
                self.assertEqual(outcome.status, 3, outcome)
                self.assertRegex(
                    outcome.err, rf"{name}\d* \(process {victim}\) ended"
                )
                self.assert_nothing_runs()

    def test_port_in_use_is_said(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = str(other.getsockname()[1])
            outcome = self.run_to_end(programs.START_SCRIPT, "-p", port)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(outcome.err, rf"distbench: .*{port}.* in use")
        self.assert_nothing_runs()

    def test_wrong_usage_is_explained(self):
        for arguments, message in (
            (["-n", "0"], "-n 0: not a number of nodes"),
            (["-n", "two"], "-n two: not a number of nodes"),
            (["-p", "65536"], "-p 65536: not a port"),
            (["-p"], "-p needs a value"),
            (["-x"], "unknown option -x"),
            (["four"], "unknown argument 'four'"),
            (["--", "--port=1"], "unknown argument '--port=1'"),
        ):
            with self.subTest(arguments=arguments):
                outcome = self.run_to_end(programs.START_SCRIPT, *arguments)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn(message, outcome.err)
                self.assert_nothing_runs()

    def test_help(self):
        outcome = self.run_to_end(programs.START_SCRIPT, "-h")
        self.assertEqual(outcome.status, 0)
        self.assertIn("-n NODES", outcome.out)


if __name__ == "__main__":
    testing_main.main()
