# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Features of the traffic language, over gRPC, on a cluster of processes."""

import re
import unittest

from tests import programs
from tests import testing_main

RPCS = 200

CHANNEL = f"""
tests {{
  name: "channel"
  services {{ name: "client" count: 1 }}
  services {{
    name: "server"
    count: 3
    multi_server_channels {{
      name: "near"
      constraints {{
        constraint_sets {{
          constraints {{
            attribute_name: "rack" relation: EQUAL string_values: "a"
          }}
        }}
      }}
    }}
  }}
  node_service_bundles {{
    key: "node0" value {{ services: ["client/0", "server/0"] }}
  }}
  node_service_bundles {{
    key: "node1" value {{ services: ["server/1", "server/2"] }}
  }}
  rpc_descriptions {{
    name: "ping" client: "client" server: "server"
    multi_server_channel_name: "near"
  }}
  actions {{
    name: "send" rpc_name: "ping"
    iterations {{ max_iteration_count: {RPCS} max_parallel_iterations: 2 }}
  }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""

REPLAY = """
tests {
  name: "replay"
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_replay_traces {
    name: "recorded"
    client: "client"
    server: "server"
    records {
      timing_ns: 10000000
      request_size: 1234
      response_size: 70001
      server_processing_time_ns: 20000000
    }
    records {
      timing_mode: RELATIVE_TO_PRIOR_RPC_END
      server_processing_time_ns: 30000000
    }
  }
  actions {
    name: "replay" rpc_replay_trace_name: "recorded"
    iterations { max_iteration_count: 3 }
  }
  action_lists { name: "client" action_names: "replay" }
}
"""


def on_device(device):
    """Returns a test whose services listen on a network device."""
    options = f"""
  protocol_driver_options {{
    name: "default_protocol_driver_options"
    netdev_name: "{device}"
    ip_version: 4
  }}
}}
"""
    config = programs.client_server_config("max_iteration_count: 10")
    return config.rstrip().removesuffix("}") + options


class TrafficLanguageTest(programs.ClusterTest):
    def run_config(self, config):
        """Returns the outcome, and the result as text."""
        sequencer = self.start_sequencer()
        self.start_node(sequencer, "rack=b")
        self.start_node(sequencer, "rack=a")
        infile = self.write("test.config", config)
        outfile = self.path("result.pb")
        outcome = self.run_tests(sequencer, infile, f"--outfile={outfile}")
        try:
            with open(outfile, encoding="utf-8") as file:
                return outcome, file.read()
        except FileNotFoundError:
            return outcome, ""

    def test_channel_reaches_the_members_that_its_nodes_attributes_select(self):
        outcome, result = self.run_config(CHANNEL)
        self.assertEqual(outcome.status, 0, outcome)
        counts = dict(
            re.findall(r"client/0 -> (\S+): RPCs: (\d+) ", outcome.out)
        )
        self.assertEqual(set(counts), {"server/1", "server/2"}, outcome)
        self.assertEqual(sum(map(int, counts.values())), RPCS, outcome)
        self.assertNotIn("0", counts.values())
        self.assertRegex(
            result, r"selected_instances: 1\s+selected_instances: 2"
        )
        self.assertRegex(result, r"[^_]server_instance: 2\b")

    def test_channel_without_members_is_refused(self):
        outcome, _ = self.run_config(CHANNEL.replace('"a"', '"z"'))
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(
            'multi_server_channels["near"] has no members', outcome.err
        )

    def test_replay_is_summarised_and_logged(self):
        outcome, result = self.run_config(REPLAY)
        self.assertEqual(outcome.status, 0, outcome)
        line = re.search(
            r"  recorded: N: 6 min: (\d+)ns .* max: (\d+)ns", outcome.out
        )
        self.assertIsNotNone(line, outcome)
        # Histograms are accurate to one per cent.
        self.assertGreater(int(line[1]), 19_800_000)
        self.assertGreater(int(line[2]), 29_700_000)
        self.assertEqual(result.count("replay_trace_logs {"), 3)
        self.assertEqual(result.count("    request_size: 1234\n"), 4)
        self.assertRegex(outcome.out, r"client/0 -> server/0: RPCs: 6 ")

    def test_services_listen_on_the_device_that_the_config_names(self):
        outcome, result = self.run_config(on_device("lo"))
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(result, r'endpoint_address: "ipv4:127\.')

    def test_unknown_device_is_named_with_those_that_there_are(self):
        outcome, _ = self.run_config(on_device("no-such-device"))
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(
            'network device "no-such-device"', outcome.out + outcome.err
        )
        self.assertRegex(
            outcome.out + outcome.err, r"this host has: .*lo 127\.0\.0\.1"
        )


if __name__ == "__main__":
    testing_main.main()
