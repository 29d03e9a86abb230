# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A cluster of real processes on separate hosts, and what users see of it."""

import os
import re
import signal
import subprocess
import time

from tests import programs
from tests.faults import namespaces

NODES = 3
PORT = 10000

# The node that is hit by faults; it hosts server/1.
VICTIM = 2

# Time limit for what must happen after a fault.
RECOVERY_SECONDS = 60


def traffic(name, seconds, requests_per_second=100):
    """Returns a test with a client on node0 and servers on node1 and node2."""
    return f"""
tests {{
  name: "{name}"
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: {NODES - 1} }}
  rpc_descriptions {{
    name: "ping" client: "client" server: "server" deadline_us: 2000000
    fanout_filter: "round_robin"
  }}
  actions {{
    name: "send" rpc_name: "ping"
    iterations {{
      open_loop_interval_ns: {int(1e9 / requests_per_second)}
      max_duration_us: {int(seconds * 1e6)}
    }}
  }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""


class Run:
    """A client's `run_tests`, running in the background."""

    def __init__(self, program, outfile):
        self.program = program
        self.outfile = outfile
        self.pid = program.pid

    def id(self):
        """Returns the sequencer's id of the run."""
        return self.program.wait_for(r"^Run (\S+)$", "err").group(1)

    def finish(self):
        """Waits for the end and returns the Outcome."""
        return self.program.wait()


class Cluster:
    """A sequencer, nodes and a client; everything ends with close()."""

    def __init__(self, lab_hosts, folder):
        self.hosts = lab_hosts
        self.folder = folder
        self.sequencer_flags = []
        self.tls_flags = []  # of every process
        self.sequencer = None
        self.nodes = {}
        self.node_environment = {}  # of the victim
        self.sequencer_environment = {}
        self.node_sequencer = {}  # address of the sequencer, by node number
        self._programs = []
        self._count = 0

    # ---- Life ---------------------------------------------------------------

    def start(self):
        self.start_sequencer()
        for number in range(NODES):
            self.start_node(number)
        self.wait_for_nodes()

    def close(self):
        for program in self._programs:
            if program.running():
                program.send(signal.SIGCONT)
            program.kill()
        self._programs = []

    @property
    def address(self):
        return f"{self.hosts['sequencer'].address}:{PORT}"

    def start_sequencer(self):
        self.sequencer = self._start(
            "sequencer",
            *("test_sequencer", f"--port={PORT}"),
            *self.sequencer_flags,
            env=self.sequencer_environment,
        )
        self.sequencer.wait_for(r"^Listening at .*:\d+")

    def start_node(self, number, *flags):
        address = self.node_sequencer.get(number, self.address)
        self.nodes[number] = self._start(
            f"node{number}",
            *("node_manager", f"node{number}", f"--test_sequencer={address}"),
            *flags,
            env=self.node_environment if number == VICTIM else {},
        )

    def victim(self):
        return self.nodes[VICTIM]

    def _start(self, host, *arguments, env=None):
        program = programs.Program(
            self.hosts[host].command(
                programs.DISTBENCH, *arguments, *self.tls_flags
            ),
            env={**os.environ, **(env or {})},
        )
        self._programs.append(program)
        return program

    # ---- What users do ------------------------------------------------------

    def start_run(self, config, *flags, outfile=None):
        self._count += 1
        infile = os.path.join(self.folder, f"{self._count}.config")
        with open(infile, "w", encoding="utf-8") as file:
            file.write(config)
        outfile = outfile or os.path.join(self.folder, f"{self._count}.result")
        program = self._start(
            "client",
            *(
                "run_tests",
                f"--test_sequencer={self.address}",
                "--allow_invalid",
            ),
            *(f"--infile={infile}", f"--outfile={outfile}", *flags),
        )
        return Run(program, outfile)

    def start_client(self, *arguments):
        """Starts a distbench command on the client's host; returns the Program."""
        return self._start(
            "client", *arguments, f"--test_sequencer={self.address}"
        )

    def runs(self, *arguments):
        """Returns the output of `distbench runs`, which must succeed."""
        done = self.run_client("runs", *arguments)
        if done.returncode != 0:
            raise AssertionError(f"runs {arguments}: {done}")
        return done.stdout

    def status(self):
        """Returns the output of `distbench status`; empty if it fails."""
        done = self.run_client("status")
        return done.stdout if done.returncode == 0 else ""

    def run_client(self, *arguments, tls_flags=None):
        """Runs a distbench command on the client's host to its end."""
        return subprocess.run(
            self.hosts["client"].command(
                *(
                    programs.DISTBENCH,
                    *arguments,
                    f"--test_sequencer={self.address}",
                ),
                *(self.tls_flags if tls_flags is None else tls_flags),
            ),
            capture_output=True,
            check=False,
            text=True,
            timeout=RECOVERY_SECONDS,
        )

    def wait_for_status(self, pattern):
        end = time.monotonic() + RECOVERY_SECONDS
        while True:
            status = self.status()
            match = re.search(pattern, status, re.MULTILINE)
            if match:
                return match
            if time.monotonic() > end:
                raise AssertionError(f'no "{pattern}" in the status:\n{status}')
            time.sleep(0.05)

    def wait_for_nodes(self, count=NODES):
        self.wait_for_status(rf"^Nodes: {count}$")

    def wait_for_traffic(self):
        """Waits until RPCs have been sent."""
        self.wait_for_status(r"^Running: .*, [1-9]\d* RPCs")

    def run_short_test(self):
        """Runs a test on all nodes, which must succeed."""
        outcome = self.start_run(traffic("short", seconds=0.2)).finish()
        if outcome.status != 0:
            raise AssertionError(f"the cluster is not usable: {outcome}")

    def seconds_until_usable(self):
        """Returns the time until all nodes are there and a test succeeds."""
        start = time.monotonic()
        self.wait_for_nodes()
        self.run_short_test()
        return time.monotonic() - start

    def check_nothing_crashed(self, *gone):
        """Checks that all programs run except those in `gone`."""
        for program in (self.sequencer, *self.nodes.values()):
            if program not in gone and not program.running():
                raise AssertionError(f"it has ended: {program.wait()}")


def make_hosts():
    """Returns the hosts of a cluster, in their own Lab."""
    lab = namespaces.Lab()
    names = [
        "sequencer",
        "client",
        *(f"node{number}" for number in range(NODES)),
    ]
    return {name: lab.add_host(name) for name in names}
