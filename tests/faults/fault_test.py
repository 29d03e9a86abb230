# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs each fault once, in network namespaces with real processes.

    tests/faults/fault_table    runs each many times, and measures
"""

import shutil
import tempfile
import unittest

from tests import programs
from tests import testing_main
from tests.faults import cluster as clusters
from tests.faults import faults
from tests.faults import namespaces


def _case(fault):
    def test(self):
        if programs.SANITIZED and "clock" in fault.name:
            self.skipTest("a sanitizer does not let another library come first")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        cluster = clusters.Cluster(self.hosts, folder)
        for seen in faults.run_fault(fault, cluster, times=1):
            print(f"{fault.title}: {seen}")

    return test


class FaultTest(unittest.TestCase):
    unavailable = None  # the reason, if they are unavailable
    hosts = None

    def setUp(self):
        if self.unavailable is not None:
            self.skipTest(self.unavailable)
        if FaultTest.hosts is None:
            FaultTest.hosts = clusters.make_hosts()


for _fault in faults.FAULTS:
    setattr(FaultTest, f"test_{_fault.name}", _case(_fault))


if __name__ == "__main__":
    try:
        namespaces.enter()
    except namespaces.Unavailable as reason:
        FaultTest.unavailable = str(reason)
    testing_main.main()
