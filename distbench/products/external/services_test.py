# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests of services that are no part of distbench, as docs/products/external.md has
them."""

import os
import re
import unittest

from tests import programs
from tests import testing_main

import grpc_service

REQUEST = """request_json: '{"key": "k{{counter}}"}'"""

SECRET = "s3cret"


def config(
    address,
    call=REQUEST,
    iterations="max_iteration_count: 40",
    clients=1,
    more="",
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
  {more}
}}
"""


# Clients call frontends of the test, which call the cache and a storage service
# of the test.
TREE = """
tests {{
  name: "tree" measure_time_parts: true
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

    def test_a_pattern_calls_a_server_by_one_command(self):
        server = self.serve()
        os.symlink(programs.TEST_BUILDER, self.path("test_builder"))
        path = self.folder + os.pathsep + os.environ["PATH"]
        outcome = self.run_to_end(
            programs.DISTBENCH,
            "join",
            "--size=1",
            "--plain",
            "--listen=localhost",
            f"--allow_target={server.address}",
            "--",
            "test_builder",
            f"external:target={server.address}:method=example.Cache/Get:"
            'request={"key": "{{choice:a|missing}}"}:parallel_queries=2:'
            "warmup_seconds=0",
            f"--output={self.path('results')}",
            "--duration=1",
            "--allow_invalid",
            env=self.environment() | {"PATH": path},
        )
        self.assertEqual(set(server.keys()), {"a", "missing"}, outcome)
        self.assertRegex(outcome.out, r"call: N: \d+ min: \d+ns")
        self.assertIn("NOT_FOUND: no such key", outcome.out)

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

    def test_a_server_that_is_down_is_no_wrong_usage(self):
        address = f"127.0.0.1:{programs.free_port()}"
        outcome, _ = self.run_config(self.cluster(address), config(address))
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("refused or unreachable", outcome.out + outcome.err)

    def test_misspelt_names_are_wrong_usage(self):
        server = self.serve()
        sequencer = self.cluster(server.address)
        for right, wrong in (("Cache/Get", "Cache/Got"), ('"key"', '"kee"')):
            with self.subTest(wrong=wrong):
                outcome, _ = self.run_config(
                    sequencer, config(server.address).replace(right, wrong)
                )
                self.assertEqual(outcome.status, 1, outcome)

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
        # Nobody knows those of an external service.
        self.assertIn("load: server_handler: ", outcome.out)
        self.assertNotIn("get: server_handler: ", outcome.out)

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

    def test_a_name_is_called_at_the_addresses_that_it_stands_for(self):
        server = self.serve()
        name = f"dns:///{server.address}"
        port = server.address.rpartition(":")[2]
        outcome, result = self.run_config(
            self.cluster(f"127.0.0.0/8:{port}"), config(name)
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(sum(server.keys().values()), 40)
        self.assertIn(f"cache: {name} stood for {server.address} ", outcome.out)
        self.assertIn("external_addresses", result)
        outcome, _ = self.run_config(
            self.cluster(f"127.0.0.2:{port}"), config(name)
        )
        self.assertNotEqual(outcome.status, 0, outcome)
        self.assertIn(
            f"--allow_target={server.address}", outcome.out + outcome.err
        )
        self.assertEqual(sum(server.keys().values()), 40)

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

    # ---- Streams ----

    def stream(self, method, stream, behaviour="none", settings="", **options):
        """Returns the outcome of a test with streams, and its result."""
        server = self.serve()
        text = config(server.address, **options)
        text = text.replace("/example.Cache/Get", f"/example.Cache/{method}")
        text = text.replace(
            "external_call {",
            f"""stream {{ {stream} }} {settings}
            external_call {{ metadata {{
                key: "behaviour" value: "{behaviour}"
            }}""",
        )
        outcome, result = self.run_config(self.cluster(server.address), text)
        return server, outcome, result

    def test_streams_of_responses(self):
        server, outcome, _ = self.stream("Watch", "")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(sum(server.keys().values()), 40)
        responses = 40 * grpc_service.WATCHED
        self.assertRegex(
            outcome.out, rf"get: streams: 40 requests: 40 .* {responses} \("
        )
        self.assertRegex(outcome.out, r"get: first_message: N: 40 ")
        self.assertRegex(outcome.out, rf"get: gap: N: {responses - 40} ")

    def test_streams_of_requests(self):
        server, outcome, _ = self.stream(
            "Put", 'client_messages: 7 client_interval: "1ms"'
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            server.keys(), {f"k{number}": 1 for number in range(280)}
        )
        self.assertRegex(
            outcome.out, r"get: streams: 40 requests: 280 .* responses: 40 \("
        )
        self.assertRegex(outcome.out, r"get: client_blocked: N: 40 ")

    def test_echoes_are_matched_first_in_first_out(self):
        server, outcome, _ = self.stream(
            "Talk", 'client_messages: 7 response_starts: "echo"'
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(sum(server.keys().values()), 280)
        self.assertRegex(outcome.out, r"get: round_trip: N: 280 ")
        self.assertNotIn("unanswered", outcome.out)

    def test_messages_have_the_sizes_of_a_distribution(self):
        server, outcome, _ = self.stream(
            "Talk",
            'client_messages: 5 response_starts: "echo"',
            settings='request_payload_name: "sizes"',
            call="""request_json: '{"key": "{{filler}}"}'""",
            more="""
              payload_descriptions {
                name: "sizes" size_distribution_name: "sizes"
              }
              size_distribution_configs {
                name: "sizes"
                pmf_points { pmf: 1 data_points { lower: 100 upper: 120 } }
              }""",
        )
        self.assertEqual(outcome.status, 0, outcome)
        sizes = [len(key) for key in server.keys()]
        self.assertTrue(all(98 <= size <= 118 for size in sizes), sizes)
        self.assertGreater(len(set(sizes)), 5)

    def test_an_open_loop_counts_messages_from_when_they_were_due(self):
        # Fifty messages, of which those that were due during the pause wait.
        _, outcome, _ = self.stream(
            "Talk",
            """client_messages: 50 client_interval: "20ms"
            response_starts: "echo" """,
            behaviour=grpc_service.PAUSE,
            iterations="max_iteration_count: 1",
        )
        self.assertEqual(outcome.status, 0, outcome)
        found = re.search(
            r"get: round_trip: N: 50 .*?90%: (\d+)ns", outcome.out
        )
        self.assertTrue(found, outcome.out)
        self.assertGreater(
            int(found[1]), 0.5 * grpc_service.PAUSE_S * 1e9, outcome.out
        )

    def test_an_echo_tells_what_the_server_does_not_answer(self):
        for behaviour, error in (
            (grpc_service.FEWER, "INTERNAL: the server ended the stream before"),
            (grpc_service.EXTRA, "INTERNAL: the server sent a message that answ"),
            (grpc_service.EAGER, "INTERNAL: the server sent a message that answ"),
            (grpc_service.EARLY, "INTERNAL: the server ended the stream before"),
            (grpc_service.ERROR, "ABORTED: half is enough"),
        ):
            with self.subTest(behaviour):
                _, outcome, result = self.stream(
                    "Talk",
                    """client_messages: 8 client_interval: "1ms"
                    response_starts: "echo" """,
                    behaviour=behaviour,
                    iterations="max_iteration_count: 5",
                )
                self.assertIn(error, result, outcome)
                self.assertRegex(result, r"failed_count: 5\b")
                self.assertNotIn("succeeded_count: 5", result)

    def test_messages_that_a_stalled_server_leaves_miss_every_objective(self):
        _, outcome, result = self.stream(
            "Talk",
            """client_messages: 40 client_interval: "10ms"
            response_starts: "echo" """,
            behaviour=grpc_service.STALL,
            settings='deadline: "1s"',
            iterations="max_iteration_count: 1",
            more='objectives: "get round_trip_p50<=1s"',
        )
        unanswered = 40 - grpc_service.ANSWERED
        self.assertRegex(result, rf"unanswered_messages: {unanswered}\b")
        self.assertIn(f"unanswered: {unanswered}", outcome.out)
        self.assertIn("get round_trip_p50<=1s", outcome.out)
        self.assertNotEqual(outcome.status, 0, outcome)

    def test_check_test_tells_whether_a_method_streams(self):
        self.serve()
        for method, stream, problem in (
            ("Get", "", "does not stream; remove `stream`"),
            ("Watch", "client_messages: 2", "takes one request message"),
            ("Put", 'response_starts: "echo"', "does not stream both ways"),
        ):
            text = config("cache:1", REQUEST + 'descriptor_set_file: "cache.pb"')
            text = text.replace("Cache/Get", f"Cache/{method}").replace(
                "external_call {", f"stream {{ {stream} }} external_call {{"
            )
            outcome = self.distbench(
                "check_test", f"--infile={self.write('bad.config', text)}"
            )
            self.assertEqual(outcome.status, 1, outcome)
            self.assertIn(problem, outcome.err)

    # ---- How calls are made ----

    def test_binary_requests_need_no_descriptors(self):
        server = self.serve(has_reflection=False)
        with open(self.path("get.binpb"), "wb") as file:
            file.write(b"\n\x03abc")
        outcome, result = self.run_config(
            self.cluster(server.address),
            config(
                server.address,
                'request_file: "get.binpb" compression: "gzip"',
            ).replace("external {", 'external { user_agent: "tester/1"'),
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(server.keys(), {"abc": 40})
        self.assertIn("tester/1", server.metadata()["user-agent"])
        self.assertRegex(result, r'key: "gzip_request_bytes_before"\s*value: 200')

    def test_responses_are_limited_and_the_result_says_so(self):
        server = self.serve()
        outcome, result = self.run_config(
            self.cluster(server.address),
            config(server.address).replace(
                "external {", 'external { max_response: "8B"'
            ),
        )
        self.assertIn("a response has more than 8 bytes", result)
        self.assertIn("external_response_limit", result)
        self.assertIn("longer than max_response", outcome.out + outcome.err)


if __name__ == "__main__":
    testing_main.main()
