# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""All pairs of twelve hosts, of which some are slow: they are named, and nobody else.

Each host is a network namespace with a node manager; a slow one sends late. With
KEEP=FOLDER in the environment, the results are kept there.
"""

import json
import os
import shutil

from tests import programs
from tests import testing_main
from tests.audit import delayed_link
from tests.audit import separate_hosts
from tests.faults import namespaces

HOSTS = 12
RACKS = "aaaabbbbcccc"  # by number of the host

# Much more than what a busy machine does to all of them in bursts.
DELAY_SECONDS = 0.1


class SlowHostsTest(separate_hosts.SeparateHostsTest):
    NODES = HOSTS

    def node_flags(self, number):
        return (f"rack={RACKS[number]}",)

    def host(self, number):
        return self.hosts[f"node{number}"]

    def delay(self, number, others=range(HOSTS)):
        """The host sends late to others."""
        routes = delayed_link.DelayedRoutes(
            self.host(number),
            [self.host(other).address for other in others if other != number],
            DELAY_SECONDS,
        )
        self.addCleanup(routes.close)

    def run_command(self, *command, during=None, status=0):
        """Returns the tests of the JSON report of the command's result."""
        result = os.path.join(self.folder, "pairs.pb.gz")
        program = self.cluster.start_client(
            *(*command, "--allow_invalid", "--quiet", "--no_samples"),
            *("--binary_output", f"--outfile={result}"),
        )
        if during is not None:
            during()
        outcome = program.wait()
        self.assertEqual(outcome.status, status, outcome)
        if "KEEP" in os.environ:
            name = f"{self.id().rsplit('.', 1)[1]}.pb.gz"
            shutil.copy(result, os.path.join(os.environ["KEEP"], name))
        outcome = programs.Program(
            [programs.DISTBENCH, "report", result, "--format=json"]
        ).wait()
        return json.loads(outcome.out)["tests"]

    def all_pairs(self, **arguments):
        return self.run_command("all_pairs", "--duration=4s", **arguments)

    def out_of_line(self, test):
        """Who is, without what is part of a group: texts up to the figures."""
        return sorted(
            outlier["text"].split(":")[0]
            for outlier in test["all_pairs"]["outliers"]
            if not outlier["is_part"]
        )

    def check(self, *expected):
        for test in self.all_pairs():
            with self.subTest(test["name"]):
                self.assertEqual(
                    self.out_of_line(test),
                    list(expected),
                    test["all_pairs"]["outliers"],
                )

    def test_two_slow_hosts(self):
        self.delay(3)
        self.delay(8)
        self.check("node3, as client and server", "node8, as client and server")

    def test_one_slow_pair(self):
        self.delay(2, [7])
        # What is late is the request of one, and the response to the other.
        self.check("node2 -> node7", "node7 -> node2")

    def test_one_slow_rack(self):
        for number in range(4, 8):
            self.delay(number)
        self.check("all hosts of rack b, as client and server")

    def test_all_slow_alike(self):
        for number in range(HOSTS):
            self.delay(number)
        self.check()

    def test_a_host_that_no_longer_answers(self):
        """It is named by what was measured; the bursts cannot begin without it."""

        def silence():
            self.cluster.wait_for_traffic()
            for number in range(HOSTS):
                if number != 5:
                    address = self.host(number).address
                    self.host(5).block(address)
                    self.addCleanup(self.host(5).unblock, address)

        steady = self.all_pairs(during=silence, status=3)[0]
        self.assertEqual(
            self.out_of_line(steady), ["node5, as client and server"]
        )
        (outlier,) = (
            each for each in steady["all_pairs"]["outliers"] if each["name"]
        )
        self.assertEqual(outlier["figure"], "failed")

    def test_a_host_that_is_slow_as_server(self):
        steady = self.all_pairs()[0]
        config = steady["traffic_config"].replace(
            'services {', 'server_faults { name: "slow" service: "node" '
            'instances: 4 extra_latency: "100ms" } services {', 1
        )
        infile = os.path.join(self.folder, "slow.config")
        with open(infile, "w", encoding="utf-8") as file:
            file.write(f"tests {{ {config} }}")
        (test,) = self.run_command("run_tests", f"--infile={infile}")
        (slow,) = (
            place["hostname"]
            for place in test["placement"]
            if place["instance"] == "node/4"
        )
        self.assertEqual(self.out_of_line(test), [f"{slow}, as server"])


if __name__ == "__main__":
    SlowHostsTest.unavailable = delayed_link.why_unavailable()
    if SlowHostsTest.unavailable is None:
        try:
            namespaces.enter()
        except namespaces.Unavailable as reason:
            SlowHostsTest.unavailable = str(reason)
    testing_main.main()
