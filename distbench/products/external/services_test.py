# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests of services that are no part of distbench, as docs/products/external.md has
them."""

import re
import unittest

from tests import programs
from tests import testing_main

import grpc_service

REQUEST = """request_json: '{"key": "k{{counter}}"}'"""

SECRET = "s3cret"


def config(
    address, call=REQUEST, iterations="max_iteration_count: 40", clients=1
):
    """Returns a test of clients on one node that call the cache."""
    instances = [f"client/{number}" for number in range(clients)]
    return f"""
tests {{
  name: "external" random_seed: 1
  services {{ name: "client" count: {clients} }}
  node_service_bundles {{
    key: "node0" value {{ services: {instances} }}
  }}
  services {{ name: "cache" external {{ addresses: "{address}" }} }}
  rpc_descriptions {{
    name: "get" client: "client" server: "cache"
    external_call {{
      method: "/example.Cache/Get" {call}
      metadata {{ key: "token" value: "{SECRET}" }}
    }}
  }}
  actions {{ name: "getting" rpc_name: "get" iterations {{ {iterations} }} }}
  action_lists {{ name: "client" action_names: "getting" }}
}}
"""


# Clients call frontends of the test, which call the cache and a storage service
# of the test.
TREE = """
tests {{
  name: "tree"
  services {{ name: "client" count: 1 }}
  services {{ name: "front" count: 1 }}
  services {{ name: "storage" count: 1 }}
  services {{ name: "cache" external {{ addresses: "{address}" }} }}
  node_service_bundles {{
    key: "node0" value {{ services: ["client/0", "front/0", "storage/0"] }}
  }}
  rpc_descriptions {{ name: "page" client: "client" server: "front" }}
  rpc_descriptions {{ name: "load" client: "front" server: "storage" }}
  rpc_descriptions {{
    name: "get" client: "front" server: "cache"
    external_call {{
      method: "/example.Cache/Get" request_text: "key: 'tree'"
    }}
  }}
  actions {{
    name: "ask" rpc_name: "page" iterations {{ max_iteration_count: 30 }}
  }}
  actions {{ name: "look_up" rpc_name: "get" }}
  actions {{ name: "miss" rpc_name: "load" dependencies: "look_up" }}
  action_lists {{ name: "client" action_names: "ask" }}
  action_lists {{ name: "page" action_names: "look_up" action_names: "miss" }}
  action_lists {{ name: "load" }}
}}
"""


class ExternalTest(programs.ClusterTest):
    def serve(self, **options):
        server = grpc_service.CacheServer(self.folder, **options)
        self.addCleanup(server.stop)
        return server

    def cluster(self, target):
        """Returns a sequencer with a node; both allow the target."""
        flag = f"--allow_target={target}"
        sequencer = self.start_sequencer(flag)
        self.start_node(sequencer, flag)
        return sequencer

    def run_config(self, sequencer, text, *flags):
        """Returns the outcome and the result as text."""
        outfile = self.path("out")
        outcome = self.run_tests(
            sequencer,
            self.write("external.config", text),
            f"--outfile={outfile}",
            *flags,
        )
        try:
            with open(outfile, encoding="utf-8") as file:
                return outcome, file.read()
        except FileNotFoundError:
            return outcome, ""

    def test_a_server_with_reflection_is_called_with_templates(self):
        server = self.serve()
        outcome, result = self.run_config(
            self.cluster(server.address), config(server.address)
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            server.keys(), {f"k{number}": 1 for number in range(40)}
        )
        self.assertEqual(server.metadata()["token"], SECRET)
        self.assertRegex(outcome.out, r"\bget: N: 40 ")
        self.assertRegex(outcome.out, r"client/0 -> cache/0: RPCs: 40 ")
        self.assertIn("(redacted)", result)
        self.assertNotIn(SECRET, result)
        self.assertNotIn(SECRET, outcome.out + outcome.err)

    def test_descriptors_and_rows_come_from_files_beside_the_config(self):
        server = self.serve(has_reflection=False)
        self.write("users.csv", "user\nann\nbob\n")
        outcome, result = self.run_config(
            self.cluster(server.address),
            config(
                server.address,
                """request_json: '{"key": "{{row:user}}"}'
                descriptor_set_file: "cache.pb" rows_file: "users.csv" """,
            ),
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(server.keys(), {"ann": 20, "bob": 20})
        self.assertNotIn("bob", result)

    def test_instances_send_their_names_and_begin_at_different_rows(self):
        server = self.serve()
        self.write("users.csv", "user\nann\nbob\ncat\n")
        outcome, _ = self.run_config(
            self.cluster(server.address),
            config(
                server.address,
                """request_json: '{"key": "{{instance}} {{row:user}}"}'
                rows_file: "users.csv" """,
                iterations="max_iteration_count: 1",
                clients=2,
            ),
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            server.keys(), {"client/0 ann": 1, "client/1 bob": 1}
        )

    def test_without_reflection_a_test_needs_descriptors(self):
        server = self.serve(has_reflection=False)
        outcome, _ = self.run_config(
            self.cluster(server.address), config(server.address)
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("/example.Cache/Get", outcome.out + outcome.err)
        self.assertEqual(server.keys(), {})

    def test_failures_are_told_by_their_status(self):
        server = self.serve()
        outcome, result = self.run_config(
            self.cluster(server.address),
            config(
                server.address,
                """request_json: '{"key": "{{choice:missing|a|b|c}}"}'""",
                "max_iteration_count: 400",
            ),
        )
        self.assertEqual(outcome.status, 0, outcome)
        missing = server.keys()[grpc_service.MISSING]
        self.assertTrue(50 < missing < 150, missing)
        self.assertIn("NOT_FOUND: no such key", result)
        self.assertRegex(result, rf"failed_count: {missing}\b")

    def test_the_service_may_be_in_the_middle_of_a_tree(self):
        server = self.serve()
        outcome, _ = self.run_config(
            self.cluster(server.address), TREE.format(address=server.address)
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(server.keys(), {"tree": 30})
        for rpc in ("page", "load", "get"):
            self.assertRegex(outcome.out, rf"\b{rpc}: N: 30 ")

    def test_nobody_calls_what_is_not_allowed(self):
        server = self.serve()
        infile = config(server.address)
        wanted = f"--allow_target={server.address}"
        outcome, _ = self.run_config(self.cluster("localhost:1"), infile)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(wanted, outcome.err)
        # Nor do nodes whose sequencer would.
        sequencer = self.start_sequencer(wanted)
        self.start_node(sequencer)
        outcome, _ = self.run_config(sequencer, infile)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("this node manager", outcome.out + outcome.err)
        self.assertIn(wanted, outcome.out + outcome.err)
        self.assertEqual(server.keys(), {})

    def test_a_rate_is_not_exceeded(self):
        server = self.serve()
        outcome, result = self.run_config(
            self.cluster(f"{server.address}@50"),
            config(server.address, iterations='max_duration: "2s"'),
        )
        self.assertEqual(outcome.status, 0, outcome)
        # A closed loop without the limit would send thousands.
        calls = sum(server.keys().values())
        self.assertTrue(20 < calls <= 110, calls)
        self.assertTrue(re.search(r'key: "held_back_by_rate"', result))

    def test_check_test_tells_whether_a_request_fits(self):
        self.serve()
        infile = self.write(
            "bad.config",
            config(
                "cache:1",
                """request_json: '{"kee": "a"}'
                descriptor_set_file: "cache.pb" """,
            ),
        )
        outcome = self.distbench("check_test", f"--infile={infile}")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(
            'rpc_descriptions["get"].external_call: request', outcome.err
        )
        self.assertIn("kee", outcome.err)


if __name__ == "__main__":
    testing_main.main()
