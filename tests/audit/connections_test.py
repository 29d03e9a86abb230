# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Audits what results say about data connections against a link that is cut.

A client sends to two servers on hosts of their own. The link to one of them
loses all packets until the kernel has sent segments again. The result must say
which connections these were. On a busy machine, a connection that lost nothing
may send a segment again because the answer was late, but not as many.
"""

import json
import re
import shutil
import time

from tests import programs
from tests import testing_main
from tests.audit import separate_hosts
from tests.faults import cluster as clusters
from tests.faults import namespaces

# What ss, a program of others, says about each connection: how many of its
# segments the kernel has sent again, if any.
RETRANSMITTED = re.compile(r" retrans:\d+/(\d+)")
ENOUGH = 3


class ConnectionsTest(separate_hosts.SeparateHostsTest):
    NODES = 3

    def address(self, name):
        return self.hosts[name].address

    def test_grpc(self):
        self.check("grpc")

    def test_tcp(self):
        self.check("tcp")

    def check(self, protocol):
        config = clusters.traffic("losses", seconds=4).replace(
            "tests {", f'tests {{ default_protocol: "{protocol}"', 1
        )
        run = self.cluster.start_run(config)
        self.cluster.wait_for_traffic()
        self.lose_segments()
        outcome = run.finish()
        self.assertEqual(outcome.status, 0, outcome)
        # Texts tell the worst of the hosts only.
        document = json.loads(self.report(run, "--format=json"))
        findings = "\n".join(
            finding["message"] for finding in document["tests"][0]["findings"]
        )
        self.assertRegex(
            findings,
            r"the test on host node0 sent \d+ TCP segments again, .* most from "
            rf"{self.address('node0')}:\d+ to {self.address('node2')}:\d+ ",
        )
        connections = self.table(run, "connections")
        self.check_connections(connections)
        self.check_seconds(self.table(run, "resources"), connections)

    def lose_segments(self):
        self.hosts["node2"].cut_link()
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while max(self.retransmitted(), default=0) < ENOUGH:
            self.assertLess(time.monotonic(), end, "nothing was sent again")
        self.hosts["node2"].heal_link()

    def retransmitted(self):
        text = self.hosts["node0"].run(
            *("ss", "-tinH", "dst", self.address("node2"))
        )
        return [int(count) for count in RETRANSMITTED.findall(text)]

    def check_connections(self, rows):
        instances = {
            "node0": "client/0",
            "node1": "server/0",
            "node2": "server/1",
        }
        again = {}  # by the peer's address
        for row in rows:
            self.assertEqual(row["instance"], instances[row["node"]], row)
            self.assertGreater(int(row["sent_segments"]), 0, row)
            self.assertGreater(int(row["mean_rtt_ns"]), 0, row)
            self.assertTrue(row["congestion_control"], row)
            if row["node"] == "node0":
                peer = row["peer_address"].split(":")[0]
                count = int(row["retransmitted_segments"])
                again[peer] = max(again.get(peer, 0), count)
        self.assertEqual({row["node"] for row in rows}, set(instances))
        lost, other = self.address("node2"), self.address("node1")
        self.assertEqual(set(again), {lost, other})
        self.assertGreaterEqual(again[lost], ENOUGH)
        self.assertGreater(again[lost], again[other])

    def check_seconds(self, seconds, connections):
        def total(rows, column):
            cells = [row[column] for row in rows if row["node"] == "node0"]
            return sum(int(cell) for cell in cells if cell)

        # The last second may not be over.
        again = total(seconds, "data_retransmitted_segments")
        of_connections = total(connections, "retransmitted_segments")
        self.assertGreaterEqual(again, ENOUGH)
        self.assertLessEqual(again, of_connections)


def _enter_namespaces():
    """Returns why the audit is unavailable, or None."""
    if shutil.which("ss") is None:
        return "ss is not installed (scripts/install_deps.sh)"
    try:
        namespaces.enter()
    except namespaces.Unavailable as reason:
        return str(reason)
    return None


if __name__ == "__main__":
    ConnectionsTest.unavailable = _enter_namespaces()
    testing_main.main()
