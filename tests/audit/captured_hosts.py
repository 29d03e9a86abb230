# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Test cases that capture what passes the link between two hosts."""

import shutil
import signal
import time

from tests import programs
from tests.audit import capture
from tests.audit import separate_hosts
from tests.faults import namespaces


class CapturedHostsTest(separate_hosts.SeparateHostsTest):
    """A client on node0, and a server on node1."""

    def capture(self, name, config):
        """Returns the finished run, and the records of its capture."""
        path = f"{self.folder}/{name}.pcap"
        tcpdump = self._start_tcpdump(path)
        run = self.cluster.start_run(config)
        outcome = run.finish()
        if programs.lacks_driver(outcome):
            self.skipTest("the driver is not built in")
        self.assertEqual(outcome.status, 0, outcome)
        records = self._wait_for_records(path)
        outcome = tcpdump.stop(signal.SIGINT)
        self.assertIn("\n0 packets dropped by kernel", outcome.err)
        return run, records

    def _start_tcpdump(self, path):
        """Captures what passes the client's end of the link."""
        ends = [self.hosts[name].address for name in ("node0", "node1")]
        tcpdump = programs.Program(
            self.hosts["node0"].command(
                *("tcpdump", "-i", "eth0", "-w", path, "-Z", "root"),
                *("--time-stamp-precision=nano", "--buffer-size=65536"),
                "--packet-buffered",
                f"tcp and host {ends[0]} and host {ends[1]}",
            )
        )
        self.addCleanup(tcpdump.kill)
        tcpdump.wait_for("listening on", "err")
        return tcpdump

    def _wait_for_records(self, path):
        """Waits until tcpdump has written the end of every connection; returns
        the records."""
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while True:
            try:
                records = capture.read_records(path)
                if records and capture.count_open(records) == 0:
                    return records
            except capture.CaptureError:
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                raise AssertionError("connections did not end")
            time.sleep(0.05)


def enter_namespaces():
    """Returns why captures are unavailable, or None."""
    if shutil.which("tcpdump") is None:
        return "tcpdump is not installed (scripts/install_deps.sh)"
    try:
        namespaces.enter()
    except namespaces.Unavailable as reason:
        return str(reason)
    with open("/proc/self/setgroups", encoding="utf-8") as file:
        if file.read() == "deny\n":
            return "tcpdump needs root; a user namespace is not enough"
    return None
