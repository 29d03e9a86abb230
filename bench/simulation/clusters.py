# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Real clusters: on this host, and of hosts that are network namespaces."""

import contextlib
import os
import subprocess

from bench import machine
from bench.gallery import processes
from tests.faults import namespaces

_GRACE_SECONDS = 120


class Cluster(contextlib.ExitStack):
    """A sequencer and node managers, which end with the `with` block.

    The first command prefix is that of the sequencer and of clients, the
    others those of the nodes.
    """

    def __init__(self, binary, address, prefixes):
        super().__init__()
        self._binary = binary
        self._client_prefix, *node_prefixes = prefixes
        sequencer = self._start(self._client_prefix, "test_sequencer",
                                "--port=0", f"--listen={address}")
        port = processes.wait_for(sequencer, r"Listening at .*:(\d+)").group(1)
        self._address = f"{address}:{port}"
        for number, prefix in enumerate(node_prefixes):
            node = self._start(prefix, "node_manager", f"node{number}",
                               f"--test_sequencer={self._address}")
            processes.wait_for(node, "registered with")

    def _start(self, prefix, *arguments):
        process = subprocess.Popen(
            [*prefix, self._binary, *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.callback(process.wait)
        self.callback(process.terminate)
        return process

    def run(self, infile, outfile):
        """Runs a test; its result may be invalid, but not missing.

        Returns the share of the CPU time that other virtual machines of the host
        took meanwhile.
        """
        stolen, total = machine.stolen_seconds()
        subprocess.run(
            [*self._client_prefix, self._binary, "run_tests",
             f"--test_sequencer={self._address}", f"--infile={infile}",
             f"--outfile={outfile}", "--binary_output", "--allow_invalid"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
            timeout=_GRACE_SECONDS)
        stolen_after, total_after = machine.stolen_seconds()
        return (stolen_after - stolen) / (total_after - total)


def on_this_host(binary, nodes):
    return Cluster(binary, "127.0.0.1", [[]] * (nodes + 1))


class Namespaces:
    """Hosts in network namespaces, whose links can be limited."""

    def __init__(self, nodes):
        lab = namespaces.Lab()
        self._sequencer = lab.add_host("sequencer")
        self._nodes = [lab.add_host(f"host{number}")
                       for number in range(nodes)]

    def cluster(self, binary, nodes):
        hosts = [self._sequencer, *self._nodes[:nodes]]
        return Cluster(binary, self._sequencer.address,
                       [host.command() for host in hosts])

    @contextlib.contextmanager
    def limits(self, megabits_per_second):
        """Limits the links of all nodes, in both directions."""
        self._throttle(1000 * megabits_per_second)
        yield
        self._throttle(None)

    def _throttle(self, kilobits_per_second):
        for host in self._nodes:
            host.throttle(kilobits_per_second)
            host.throttle_arrivals(kilobits_per_second)


def kernel_lacks_delay():
    """Returns whether the kernel cannot delay packets (netem)."""
    tried = subprocess.run(
        ["tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay",
         "0ms"], stderr=subprocess.DEVNULL, check=False,
        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    return tried.returncode != 0
