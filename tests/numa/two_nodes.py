#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs distbench in an emulated machine with two NUMA nodes, and checks where
its threads and memory are, and its errors about impossible bindings.

    tests/numa/two_nodes.py [--compare] [--out FOLDER] [--kernel FILE]

Needs qemu-system-x86, busybox-static and, for the kernel, apt; without them it
says so and does nothing. Takes a few minutes, and some more with --compare,
which also runs numa_compare and writes its report.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
DISTBENCH = os.environ.get(
    "DISTBENCH", f"{REPOSITORY}/bazel-bin/distbench/cli/distbench"
)

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "emulated"))
import machine  # noqa: E402  pylint: disable=wrong-import-position

CPUS_OF_NODE = {0: {0, 1}, 1: {2, 3}}
arguments = None


def config(
    name,
    server="",
    servers=1,
    more="",
    seconds=3,
    interval_ns=10_000_000,
    size=65536,
):
    return f"""
tests {{
  name: "{name}"
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: {servers} {server} }}
  payload_descriptions {{ name: "large" size: {size} }}
  rpc_descriptions {{
    name: "query" client: "client" server: "server" fanout_filter: "round_robin"
    request_payload_name: "large" response_payload_name: "large"
  }}
  action_lists {{ name: "client" action_names: "run" }}
  action_lists {{ name: "query" }}
  actions {{
    name: "run" rpc_name: "query"
    iterations {{
      max_duration_us: {seconds}000000 open_loop_interval_ns: {interval_ns}
    }}
  }}
  sample_memory_bytes: 0
  {more}
}}
"""


def bundle(node, *instances):
    services = " ".join(f'services: "{instance}"' for instance in instances)
    return f'node_service_bundles {{ key: "{node}" value {{ {services} }} }}\n'


def on_numa_node(instance, node):
    return f"""service_constraints {{
  key: "{instance}"
  value {{ constraint_sets {{ constraints {{
    attribute_name: "numa_node" string_values: "{node}" relation: EQUAL
  }} }} }}
}}
"""


def guest_files():
    apart = bundle("node0", "client/0") + bundle("node1", "server/0")
    both = bundle("node0", "client/0") + bundle("node1", "server/0", "server/1")
    configs = {
        "placed": config(
            "placed",
            more=on_numa_node("server/*", 1) + on_numa_node("client/*", 0),
        ),
        "moved": config("moved", more=apart, seconds=10),
        "far": config("far", more=apart),
        "unbound": config("unbound", more=apart),
        "spread": config("spread", "numa_binding { spread: true }", 2, both),
        "impossible": config(
            "impossible", 'numa_binding { nodes: "5" }', more=apart
        ),
        "best_effort": config(
            "best_effort",
            'numa_binding { nodes: "5" strict: false }',
            more=apart,
        ),
        "compared": config("compared", interval_ns=20_000_000, size=1024),
    }
    files = {f"{name}.config": text for name, text in configs.items()}
    with open(os.path.join(HERE, "guest.sh"), encoding="utf-8") as file:
        files["guest.sh"] = file.read()
    if arguments.compare:
        files["compare"] = ""
    return files


class TwoNodesTest(unittest.TestCase):
    """The files that the machine left behind."""

    def read(self, name):
        with open(os.path.join(arguments.out, name), encoding="utf-8") as file:
            return file.read()

    def report(self, name):
        path = os.path.join(arguments.out, f"{name}.pb.gz")
        outcome = subprocess.run(
            [DISTBENCH, "report", "--format=json", path],
            capture_output=True,
            text=True,
            check=False,
        )
        return json.loads(outcome.stdout)

    def proof(self, name, instance):
        for proof in self.report(name)["tests"][0]["bindings"]:
            if proof["instance"] == instance:
                return proof
        raise AssertionError(f"{name} has no proof of {instance}")

    def assert_ran_on(self, proof, numa_node):
        cpus = set(map(int, proof["cpu_time_ns_by_cpu"]))
        self.assertTrue(cpus)
        self.assertLessEqual(cpus, CPUS_OF_NODE[numa_node])
        self.assertEqual(proof["violations"], [])

    def assert_memory_on(self, proof, numa_node):
        resident = proof["resident_bytes_by_node"]
        self.assertGreater(resident[str(numa_node)], 1 << 20)
        self.assertGreater(
            resident[str(numa_node)] / sum(resident.values()), 0.99
        )

    def findings(self, name):
        return [
            (finding["severity"], finding["code"])
            for finding in self.report(name)["tests"][0]["findings"]
        ]

    def test_topology(self):
        self.assertIn(
            "NUMA node 0: CPUs 0-1, 1.0 GiB; node 1: CPUs 2-3, 1.0 GiB",
            self.read("status.txt"),
        )
        host = self.report("placed")["tests"][0]["nodes"][0]["host"]
        self.assertEqual(
            [node["distances"] for node in host["numa_nodes"]],
            [[10, 21], [21, 10]],
        )

    def test_flags_bind_cpus_and_memory_and_constraints_place(self):
        for instance, numa_node in (("client/0", 0), ("server/0", 1)):
            proof = self.proof("placed", instance)
            self.assertEqual(proof["node"], f"node{numa_node}")
            self.assert_ran_on(proof, numa_node)
            self.assert_memory_on(proof, numa_node)
            self.assertIsNotNone(proof["cpu_migrations"])

    def test_far_memory(self):
        proof = self.proof("far", "server/0")
        self.assert_ran_on(proof, 1)
        self.assert_memory_on(proof, 0)

    def test_threads_that_are_moved_are_noticed(self):
        proof = self.proof("moved", "server/0")
        self.assertIn(
            "could run on CPUs 0-1 as well", " ".join(proof["violations"])
        )
        self.assertIn(("invalid", "binding_not_held"), self.findings("moved"))

    def test_unbound_instances_have_no_binding(self):
        proof = self.proof("unbound", "server/0")
        self.assertIsNone(proof["binding"])
        self.assertEqual(proof["violations"], [])

    def test_config_spreads_instances_over_nodes(self):
        for number in (0, 1):
            proof = self.proof("spread", f"server/{number}")
            self.assertEqual(
                proof["binding"],
                f"CPUs {number * 2}-{number * 2 + 1}, memory bind {number}",
            )
            self.assert_ran_on(proof, number)

    def test_strict_bindings_that_are_impossible_are_errors(self):
        said = self.read("impossible.txt")
        self.assertIn(
            "server/0: its numa_binding cannot be made: nodes: the host has "
            "no NUMA node 5",
            said,
        )
        self.assertIn("node1", said)
        self.assertNotIn("exit status 0", said)

    def test_best_effort_is_a_warning(self):
        self.assertIn(
            ("warn", "binding_not_held"), self.findings("best_effort")
        )
        self.assertIn("exit status 0", self.read("best_effort.txt"))

    def test_flags_that_are_impossible_are_errors(self):
        self.assertIn(
            "the host has no NUMA node 7; it has nodes 0-1",
            self.read("no_such_node.txt"),
        )
        self.assertIn(
            "none of the CPUs of NUMA node 1 (2-3) is among those that the "
            "process may use (0-1)",
            self.read("forbidden.txt"),
        )
        for name in ("no_such_node.txt", "forbidden.txt"):
            self.assertIn("exit status 1", self.read(name))

    def test_comparison(self):
        if not arguments.compare:
            self.skipTest("without --compare")
        (comparison,) = self.report("compared")["numa_comparisons"]
        by_name = {entry["name"]: entry for entry in comparison["deployments"]}
        self.assertEqual(
            list(by_name), ["one_unbound", "unbound", "bound", "bound_remote"]
        )
        for entry in comparison["deployments"]:
            self.assertTrue(entry["proofs"])
            for proof in entry["proofs"]:
                self.assertIsNotNone(proof["binding"])
                self.assertEqual(proof["violations"], [])
        for name, is_far in (("bound", False), ("bound_remote", True)):
            proofs = {
                proof["instance"]: proof for proof in by_name[name]["proofs"]
            }
            for number in (0, 1):
                proof = proofs[f"server/{number}"]
                self.assert_ran_on(proof, number)
                self.assert_memory_on(proof, 1 - number if is_far else number)


def main():
    global arguments
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--compare", action="store_true", help="also run numa_compare"
    )
    parser.add_argument(
        "--out", help="folder for results; default: do not keep them"
    )
    parser.add_argument(
        "--kernel", help="vmlinuz; default: Debian's, downloaded"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments.out = arguments.out or folder
        os.makedirs(arguments.out, exist_ok=True)
        log = os.path.join(arguments.out, "console.log")
        try:
            computer = machine.Machine(
                DISTBENCH,
                arguments.kernel or machine.find_kernel(),
                numa_nodes=2,
                cpus=4,
                memory_mib=2048,
            )
            machine.run(computer, guest_files(), arguments.out, log)
        except machine.Missing as missing:
            print(f"SKIPPED: {missing}")
            return
        if arguments.compare:
            page = os.path.join(arguments.out, "compared.html")
            result = os.path.join(arguments.out, "compared.pb.gz")
            subprocess.run(
                [DISTBENCH, "report", "--format=html", "-o", page, result],
                check=False,
            )
        unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
