# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Delays of known size are put into every part of an RPC's time, and each must
be found again within 5 %.

A client and a server run in network namespaces of their own, joined by a link
that delays packets. Each case prints what was expected and found.
"""

import json
import statistics

from tests import testing_main
from tests.audit import delayed_link
from tests.audit import separate_hosts
from tests.faults import namespaces

TOLERANCE = 0.05

# A machine on which others run stalls now and then, which only adds to parts.
ATTEMPTS = 3

# In milliseconds. The link delays each way, the handler each request. 5 % of these
# are more than the few milliseconds by which a busy machine is late in each hop.
LINK_MS = 120
HANDLER_MS = 180
ADDRESSES = ("10.78.0.1", "10.78.0.2")

# A request is due every 120 ms and one at a time takes 420 ms, so each one waits
# in the client for 300 ms longer than the one before.
INTERVAL_MS = 120
CAPPED = (
    f"open_loop_interval_ns: {INTERVAL_MS * 1000000} "
    "max_parallel_iterations: 1 max_duration_us: 6300000"
)

# Two actions send at the same times, so that one of both requests has to wait
# if the server handles one at a time.
PAIRS = "open_loop_interval_ns: 900000000 max_duration_us: 6300000"

TCP = 'protocol_name: "tcp"'
GRPC = 'protocol_name: "grpc"'


def _grpc_server(server_type):
    return f"""{GRPC}
    server_settings {{ name: "server_type" string_value: "{server_type}" }}
    server_settings {{ name: "threadpool_type" string_value: "simple" }}
    server_settings {{ name: "threadpool_size" int64_value: 1 }}"""


def _config(name, options, iterations, senders):
    actions = [f'actions {{ name: "{sender}" rpc_name: "ask" '
               f"iterations {{ {iterations} }} }}" for sender in senders]
    names = " ".join(f'action_names: "{sender}"' for sender in senders)
    return f"""
tests {{
  name: "{name}"
  measure_time_parts: true
  protocol_driver_options {{
    name: "default_protocol_driver_options" {options}
  }}
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  rpc_descriptions {{ name: "ask" client: "client" server: "server" }}
  activity_configs {{
    name: "handle"
    activity_settings {{ name: "activity_func" string_value: "SleepFor" }}
    activity_settings {{ name: "duration_us" int64_value: {HANDLER_MS}000 }}
  }}
  actions {{ name: "handle" activity_config_name: "handle" }}
  {" ".join(actions)}
  action_lists {{ name: "client" {names} }}
  action_lists {{ name: "ask" action_names: "handle" }}
}}
"""


class TimePartsTest(separate_hosts.SeparateHostsTest):
    def prepare_hosts(self, hosts):
        delayed_link.DelayedLink(
            (hosts["node0"], hosts["node1"]), ADDRESSES, LINK_MS / 1000
        )

    def node_flags(self, number):
        return (f"--service_address={ADDRESSES[number]}",)

    def measure(self, name, config):
        """Returns the medians of the parts in ms, by name, and the samples."""
        run = self.cluster.start_run(config)
        outcome = run.finish()
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(self.report(run), r"(?m)^\s*Time parts:$")
        report = json.loads(self.report(run, "--format=json"))
        (test,) = report["tests"]
        codes = [finding["code"] for finding in test["findings"]]
        self.assertNotIn("time_parts_missing", codes)
        self.assertNotIn("time_parts_contradict", codes)
        table = test["time_parts"]
        parts = {
            row["part"]: row["p50_ns"] / 1e6
            for row in (
                dict(zip(table["columns"], row)) for row in table["rows"]
            )
        }
        samples = self.table(run, "samples")
        samples.sort(key=lambda sample: int(sample["start_timestamp_ns"]))
        self.assertGreater(len(samples), 10)
        self.check_sums(samples)
        return parts, samples

    def check_sums(self, samples):
        for sample in samples:
            self.assertLess(
                int(sample["server_queue_ns"])
                + int(sample["server_handler_ns"]),
                int(sample["service_time_ns"]),
            )

    def expect(self, name, found):
        """found: pairs of expected and measured times in ms, by part."""
        cells = [
            f"{expected:.0f} / {measured:.2f}"
            for expected, measured in found.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |")
        for part, (expected, measured) in found.items():
            # What should be 0 is small next to the other parts.
            self.assertAlmostEqual(
                measured,
                expected,
                delta=TOLERANCE * (expected or HANDLER_MS),
                msg=part,
            )

    def check_capped(self, name, options):
        parts, samples = self.measure(
            name, _config(name, options, CAPPED, ["send"])
        )
        before = [int(s["service_time_ns"]) / 1e6 for s in samples[:-1]]
        wait = int(samples[-1]["lateness_ns"]) / 1e6 / len(before)
        self.expect(
            name,
            {
                "lateness": (statistics.mean(before) - INTERVAL_MS, wait),
                "network": (2 * LINK_MS, parts["network"]),
                "server_queue": (0, parts["server_queue"]),
                "server_handler": (HANDLER_MS, parts["server_handler"]),
            },
        )

    def check_pool(self, name, options):
        parts, samples = self.measure(
            name, _config(name, options, PAIRS, ["first", "second"])
        )
        queues = sorted(
            int(sample["server_queue_ns"]) / 1e6 for sample in samples
        )
        half = len(queues) // 2
        self.expect(
            name,
            {
                "lateness": (0, parts["lateness"]),
                "network": (2 * LINK_MS, parts["network"]),
                "server_queue": (HANDLER_MS, statistics.median(queues[half:])),
                "server_handler": (HANDLER_MS, parts["server_handler"]),
            },
        )
        self.assertLess(
            statistics.median(queues[:half]), TOLERANCE * HANDLER_MS
        )

    def attempt(self, check, *arguments):
        for _ in range(ATTEMPTS - 1):
            try:
                return check(*arguments)
            except AssertionError as error:
                print(f"once more, after: {error}")
        return check(*arguments)

    def test_tcp(self):
        self.attempt(self.check_capped, "tcp", TCP)

    def test_grpc(self):
        self.attempt(self.check_capped, "grpc", GRPC)

    def test_grpc_handoff(self):
        self.attempt(
            self.check_capped, "grpc_handoff", _grpc_server("handoff")
        )

    def test_queue_of_a_handoff_pool(self):
        self.attempt(
            self.check_pool, "grpc_handoff_pairs", _grpc_server("handoff")
        )

    def test_queue_of_a_polling_pool(self):
        self.attempt(
            self.check_pool, "grpc_polling_pairs", _grpc_server("polling")
        )


def _enter_namespaces():
    """Returns why the test is unavailable, or None."""
    try:
        namespaces.enter()
    except namespaces.Unavailable as reason:
        return str(reason)
    return delayed_link.why_unavailable()


if __name__ == "__main__":
    TimePartsTest.unavailable = _enter_namespaces()
    testing_main.main()
