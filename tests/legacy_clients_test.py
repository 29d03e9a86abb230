# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Clients of the original protocol: they know only the call RunTestSequence, and
read results by the fields that the original format has."""

import unittest

import grpc
from google.protobuf import text_format

from distbench._proto import control_pb2, results_pb2, traffic_config_pb2
from tests import programs
from tests import testing_main

SERVICE = "/distbench.DistBenchTestSequencer/"

RPC_AND_REPLAY = """
tests {
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "ping" client: "client" server: "server" }
  rpc_replay_traces {
    name: "recorded" client: "client" server: "server" records {} records {}
  }
  actions { name: "send" rpc_name: "ping" }
  actions { name: "replay" rpc_replay_trace_name: "recorded" }
  action_lists { name: "client" action_names: ["send", "replay"] }
  action_lists { name: "ping" }
}
"""

# The server answers nothing before the client has too many RPCs in flight.
OVERLOAD = """
tests {
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "ping" client: "client" server: "server" }
  activity_configs {
    name: "nap"
    activity_settings { name: "activity_func" string_value: "SleepFor" }
    activity_settings { name: "duration_us" int64_value: 600000000 }
  }
  overload_limits { max_pending_rpcs: 20 }
  actions {
    name: "send" rpc_name: "ping"
    iterations { open_loop_interval_ns: 1000000 max_duration_us: 600000000 }
  }
  actions { name: "wait" activity_config_name: "nap" }
  action_lists { name: "client" action_names: "send" }
  action_lists { name: "ping" action_names: "wait" }
}
"""

# A setting that the original ignores.
ACTIVITY = """
tests {
  services { name: "worker" count: 1 }
  activity_configs {
    name: "pollute"
    activity_settings {
      name: "activity_func" string_value: "PolluteInstructionCache"
    }
    activity_settings { name: "array_size" int64_value: 1000 }
  }
  actions {
    name: "work" activity_config_name: "pollute"
    iterations { max_iteration_count: 3 }
  }
  action_lists { name: "worker" action_names: "work" }
}
"""

# What a script of the original puts into one entry of options.
DECORATED = """
  protocol_driver_options {
    name: "default_protocol_driver_options"
    protocol_name: "double_barrel"
    server_settings {
      name: "next_protocol_driver" string_value: "composable_rpc_counter"
    }
    server_settings { name: "driver_under_test" string_value: "grpc" }
    client_settings { name: "client_type" string_value: "callback" }
  }
}
"""


def counts_by_rpc(result):
    """Counts samples as the original's conversion does: every key of rpc_logs is
    the position of an RPC in the config."""
    counts = {}
    for log in result.service_logs.instance_logs.values():
        for peer_log in log.peer_logs.values():
            for index, rpc_log in peer_log.rpc_logs.items():
                name = result.traffic_config.rpc_descriptions[index].name
                samples = len(rpc_log.successful_rpc_samples)
                counts[name] = counts.get(name, 0) + samples
    return counts


def own_fields(message):
    """Lists the fields that the original format does not have, at any depth."""
    own = []
    for field, value in message.ListFields():
        if field.number >= 1000:
            own.append(field.full_name)
        elif field.message_type is None:
            continue
        elif field.message_type.GetOptions().map_entry:
            for entry in value.values():
                if hasattr(entry, "ListFields"):
                    own.extend(own_fields(entry))
        elif field.label == field.LABEL_REPEATED:
            for element in value:
                own.extend(own_fields(element))
        else:
            own.extend(own_fields(value))
    return own


class LegacyClientsTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer()
        self.nodes = [self.start_node(self.sequencer) for _ in range(2)]
        self.channel = grpc.insecure_channel(self.sequencer.address)
        self.addCleanup(self.channel.close)

    def call(self, method, request, response_type):
        return self.channel.unary_unary(
            SERVICE + method,
            request_serializer=type(request).SerializeToString,
            response_deserializer=response_type.FromString,
        )(request, timeout=programs.DEADLINE_SECONDS)

    def run_sequence(self, config):
        """Returns the results of tests in text format."""
        sequence = text_format.Parse(config, traffic_config_pb2.TestSequence())
        return self.call(
            "RunTestSequence", sequence, results_pb2.TestSequenceResults
        ).test_results

    def run_one(self, config):
        (result,) = self.run_sequence(config)
        return result

    def assert_own_client_refuses(self, config):
        infile = self.write("refused.config", config)
        self.assertEqual(self.run_tests(self.sequencer, infile).status, 1)

    def test_a_sequence_without_tests_asks_for_a_sequencer(self):
        self.assertEqual(len(self.run_sequence("")), 0)
        self.assertTrue(self.sequencer.running())

    def test_a_sequence_without_tests_can_shut_a_cluster_down(self):
        self.run_sequence("tests_setting { shutdown_after_tests: true }")
        for program in (*self.nodes, self.sequencer):
            program.wait()

    def test_logs_have_only_what_the_original_format_means_by_them(self):
        result = self.run_one(RPC_AND_REPLAY)
        self.assertEqual(counts_by_rpc(result), {"ping": 1})
        logs = result.service_logs.instance_logs
        self.assertEqual(list(logs), ["client/0"])
        (replay,) = logs["client/0"].replay_trace_logs
        self.assertEqual(sorted(replay.rpc_samples), [0, 1])

    def test_an_overload_is_a_result(self):
        good = programs.client_server_config("max_iteration_count: 3")
        overloaded, after = self.run_sequence(OVERLOAD + good)
        log = overloaded.service_logs.instance_logs["client/0"]
        self.assertRegex(
            log.engine_error_message, "^RESOURCE_EXHAUSTED: Too many "
        )
        self.assertEqual(counts_by_rpc(after), {"ping": 3})
        infile = self.write("overload.config", OVERLOAD)
        self.assertEqual(self.run_tests(self.sequencer, infile).status, 3)

    def test_few_threads_are_enough_for_a_test_that_starts_few(self):
        limits = "  workers_per_instance: 1 overload_limits { max_threads: 4 }\n}"
        config = programs.client_server_config("max_iteration_count: 10")
        config = config.rstrip().removesuffix("}") + limits
        result = self.run_one(config)
        self.assertEqual(counts_by_rpc(result), {"ping": 10})

    def test_decorated_drivers_have_their_settings_in_one_entry(self):
        config = programs.client_server_config("max_iteration_count: 10")
        result = self.run_one(config.rstrip().removesuffix("}") + DECORATED)
        self.assertEqual(counts_by_rpc(result), {"ping": 10})

    def test_unknown_payloads_have_the_default_size(self):
        config = programs.client_server_config("max_iteration_count: 1")
        config = config.replace('payload_name: "small"', 'payload_name: "lost"')
        result = self.run_one(config)
        log = result.service_logs.instance_logs["client/0"]
        (sample,) = log.peer_logs["server/0"].rpc_logs[0].successful_rpc_samples
        self.assertEqual((sample.request_size, sample.response_size), (16, 32))
        self.assertRegex(
            "\n".join(result.log_summary),
            r'(?m)^  warn \(adapted_test\): tests\[0\].*"lost"',
        )
        self.assert_own_client_refuses(config)

    def test_a_test_without_a_main_list_ends(self):
        config = 'tests { services { name: "server" count: 2 } }'
        result = self.run_one(config)
        self.assertIn("sends nothing", "\n".join(result.log_summary))
        self.assert_own_client_refuses(config)

    def test_other_problems_are_refused(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.run_sequence('tests { services { name: "a" count: -1 } }')
        self.assertEqual(caught.exception.code(), grpc.StatusCode.ABORTED)
        self.assertIn('services["a"].count', caught.exception.details())

    def test_activities_have_the_metrics_of_the_original(self):
        result = self.run_one(ACTIVITY)
        log = result.service_logs.instance_logs["worker/0"]
        (metric,) = log.activity_logs["pollute"].activity_metrics
        self.assertEqual((metric.name, metric.value_int), ("iteration_count", 3))
        self.assertIn("array_size is left out", "\n".join(result.log_summary))
        self.assert_own_client_refuses(ACTIVITY)

    def test_node_managers_of_the_original_learn_what_the_sequencer_is(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.call(
                "RegisterNode",
                control_pb2.NodeRegistration(hostname="host7"),
                control_pb2.NodeConfig,
            )
        self.assertEqual(
            caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED
        )
        self.assertRegex(
            caught.exception.details(), r"distbench \d.*host7"
        )

    def test_legacy_text_has_only_fields_of_the_original(self):
        infile = self.write("test.config", RPC_AND_REPLAY)
        outfile = self.path("result.txt")
        outcome = self.run_tests(
            self.sequencer, infile, f"--outfile={outfile}", "--legacy_text"
        )
        self.assertEqual(outcome.status, 0, outcome)
        with open(outfile, encoding="utf-8") as file:
            results = text_format.Parse(
                file.read(), results_pb2.TestSequenceResults()
            )
        self.assertEqual(own_fields(results), [])
        self.assertEqual(counts_by_rpc(results.test_results[0]), {"ping": 1})

    def test_flags_of_existing_scripts_work(self):
        infile = self.write(
            "test.config", programs.client_server_config("max_iteration_count: 1")
        )
        outcome = self.distbench(
            "run_tests",
            f"-test_sequencer={self.sequencer.address}",
            "-infile",
            infile,
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(self.distbench("run_tests", "--helpfull").status, 0)
        sequencer = self.start(
            programs.DISTBENCH,
            "test_sequencer",
            "--port=0",
            "--control_plane_device=lo",
        )
        # Whether the device has both depends on the host.
        sequencer.wait_for(r"^Listening at (127\.0\.0\.1|\[::1\]):\d+$")
        self.assertRegex(
            sequencer.text("err"), r"is taken for --listen=(127\.0\.0\.1|::1)\b"
        )


if __name__ == "__main__":
    testing_main.main()
