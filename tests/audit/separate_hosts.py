# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Test cases whose cluster has each node on a host of its own."""

import csv
import io
import shutil
import tempfile
import unittest

from tests import programs
from tests.faults import cluster as clusters
from tests.faults import namespaces


class SeparateHostsTest(unittest.TestCase):
    """Skips its cases if `unavailable` says why; starts a cluster otherwise.

    The hosts are those of the process, and outlive each case.
    """

    NODES = 2
    unavailable = None
    hosts = None

    def setUp(self):
        if self.unavailable is not None:
            self.skipTest(self.unavailable)
        if SeparateHostsTest.hosts is None:
            lab = namespaces.Lab()
            nodes = [f"node{number}" for number in range(self.NODES)]
            hosts = {
                name: lab.add_host(name)
                for name in ("sequencer", "client", *nodes)
            }
            self.prepare_hosts(hosts)
            SeparateHostsTest.hosts = hosts
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.cluster = clusters.Cluster(self.hosts, self.folder)
        self.addCleanup(self.cluster.close)
        self.cluster.start_sequencer()
        for number in range(self.NODES):
            self.cluster.start_node(number, *self.node_flags(number))
        self.cluster.wait_for_nodes(self.NODES)

    def prepare_hosts(self, hosts):
        """Changes the new hosts, by name, before anything runs on them."""

    def node_flags(self, number):
        """Returns more flags of a node manager."""
        del number
        return ()

    def report(self, run, *flags):
        """Returns the output of `distbench report` on the result of a run."""
        outcome = programs.Program(
            [programs.DISTBENCH, "report", run.outfile, *flags]
        ).wait()
        # 3: requests were so late, or held back, that the run is invalid.
        self.assertIn(outcome.status, (0, 3), outcome.err)
        return outcome.out

    def table(self, run, name):
        """Returns the rows of a CSV table, as dictionaries."""
        text = self.report(run, "--format=csv", f"--table={name}")
        return list(csv.DictReader(io.StringIO(text)))
