# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Audits results against what tcpdump sees on the link between the hosts.

A client and a server run in network namespaces of their own. Each case prints
what was expected and found.
"""

import statistics

from tests import testing_main
from tests.audit import capture
from tests.audit import captured_hosts
from tests.audit import comparison
from tests.audit import framing

RATE = 1000

# The size of all messages, and the iterations.
TRAFFICS = {
    "open_loop_16_bytes": (
        16,
        f"open_loop_interval_ns: {10**9 // RATE} max_duration_us: 2500000 "
        "warmup_ns: 300000000",
    ),
    "closed_loop_4_kib": (
        4096,
        "max_iteration_count: 3000 max_parallel_iterations: 8 "
        "warmup_iterations: 300",
    ),
}

# The driver's options, and what finds its RPCs.
DRIVERS = {
    "grpc": ('protocol_name: "grpc"', framing.grpc_traffic),
    "grpc_callback_handoff": (
        """protocol_name: "grpc"
        client_settings { name: "client_type" string_value: "callback" }
        server_settings { name: "server_type" string_value: "handoff" }""",
        framing.grpc_traffic,
    ),
    "grpc_stream": (
        'protocol_name: "grpc_stream"',
        framing.grpc_stream_traffic,
    ),
    "http2": ('protocol_name: "http2"', framing.grpc_traffic),
    "tcp": ('protocol_name: "tcp"', framing.tcp_traffic),
    "thrift": ('protocol_name: "thrift"', framing.thrift_traffic),
}


# The drivers that take time stamps of the wire, and what they send: one RPC at a
# time.
STAMPING = ("http2", "tcp", "thrift")
WARMUP = 300
ONE_AT_A_TIME = f"max_iteration_count: 3000 warmup_iterations: {WARMUP}"


def _config(name, options, payload_bytes, iterations, more=""):
    return f"""
tests {{
  name: "{name}"
  {more}
  protocol_driver_options {{
    name: "default_protocol_driver_options" {options}
  }}
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  rpc_descriptions {{
    name: "ping" client: "client" server: "server"
    request_payload_name: "message" response_payload_name: "message"
  }}
  payload_descriptions {{ name: "message" size: {payload_bytes} }}
  actions {{ name: "send" rpc_name: "ping" iterations {{ {iterations} }} }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""


def _case(driver, traffic_name):
    options, traffic_of = DRIVERS[driver]
    payload_bytes, iterations = TRAFFICS[traffic_name]
    asked_rate = RATE if traffic_name.startswith("open_loop") else None
    name = f"{driver}_{traffic_name}"

    def test(self):
        config = _config(name, options, payload_bytes, iterations)
        records, reported = self.run_captured(name, config)
        connections = capture.connections(records)
        traffic = traffic_of(connections)
        print(_row(driver, traffic_name, reported, traffic, asked_rate))
        self.assertEqual(
            comparison.differences(reported, traffic, asked_rate), []
        )
        self.assertEqual(traffic.handshakes, len(connections))
        self.check_sensitivity(records, reported, traffic, traffic_of)

    return test


def _wire_time_case(driver):
    options, traffic_of = DRIVERS[driver]

    def test(self):
        config = _config(
            f"{driver}_wire_time",
            options,
            16,
            ONE_AT_A_TIME,
            "measure_wire_time {}",
        )
        run, records = self.capture(f"{driver}_wire_time", config)
        traffic = traffic_of(capture.connections(records))
        reported = comparison.read_wire_times(
            self.report(run, "--format=csv", "--table=samples")
        )
        self.assertEqual(len(reported), len(traffic.requests))
        self.assertNotIn(None, reported, "an RPC was not stamped")
        errors = comparison.wire_time_errors(reported, traffic)
        (row,) = self.table(run, "rpcs")
        print(_wire_time_row(driver, row, traffic, errors))
        for percent, tolerance_ns in comparison.WIRE_TOLERANCES_NS.items():
            self.assertLessEqual(
                comparison.percentile(errors, percent),
                tolerance_ns,
                f"at the {percent}th percentile",
            )
        self.assertEqual(row["wire_stamped"], row["succeeded"])
        self.assertEqual(row["wire_shared"], "0")

    return test


def _microseconds(*times_ns):
    return " / ".join(f"{time_ns / 1000:.1f}" for time_ns in times_ns)


def _wire_time_row(driver, row, traffic, errors):
    by_send = traffic.wire_times_by_send()
    wire_times = sorted(by_send[WARMUP:])
    cells = [f"`{driver}`", str(len(by_send))]
    for percent in (50, 99):
        cells.append(
            _microseconds(
                int(row[f"service_p{percent}_ns"]),
                int(row[f"wire_p{percent}_ns"]),
                comparison.percentile(wire_times, percent),
            )
        )
    cells += [_microseconds(comparison.percentile(errors, p)) for p in (50, 99)]
    return f"| {' | '.join(cells)} |"


def _row(driver, traffic_name, reported, traffic, asked_rate):
    wire_times = traffic.wire_times()
    rates = "-"
    if asked_rate is not None:
        rates = f"{asked_rate} / {comparison.rate(traffic.sends()):.2f}"
    cells = (
        f"`{driver}`",
        traffic_name.replace("_", " ").replace("kib", "KiB"),
        f"{reported.ended} / {len(traffic.requests)}",
        f"{reported.answered} / {len(traffic.responses)}",
        _microseconds(reported.minimum_ns, wire_times[0]),
        _microseconds(
            reported.median_ns, statistics.median_low(wire_times)
        ),
        rates,
    )
    return f"| {' | '.join(cells)} |"


class WireTest(captured_hosts.CapturedHostsTest):
    def run_captured(self, name, config):
        """Returns the records of the capture, and what the result reports."""
        run, records = self.capture(name, config)
        return records, comparison.read_report(
            self.report(run, "--format=json"),
            self.report(run, "--format=csv", "--table=samples"),
        )

    def check_sensitivity(self, records, reported, traffic, traffic_of):
        """Checks that a lost packet, and a lost last request, are noticed."""
        with_data = [
            number
            for number, record in enumerate(records)
            if capture.parse(*record).data
        ]
        lost = with_data[len(with_data) // 2]
        with self.assertRaises(capture.CaptureError):
            capture.connections(records[:lost] + records[lost + 1 :])

        last_send = traffic.sends()[-1]
        fewer = [record for record in records if record[0] < last_send]
        try:
            traffic = traffic_of(capture.connections(fewer))
        except capture.CaptureError:
            return  # There were other calls in flight.
        found = comparison.differences(reported, traffic)
        self.assertRegex("\n".join(found), r"^requests: ")


for _driver in STAMPING:
    setattr(
        WireTest, f"test_{_driver}_wire_times", _wire_time_case(_driver)
    )
for _driver in DRIVERS:
    for _traffic in TRAFFICS:
        setattr(
            WireTest, f"test_{_driver}_{_traffic}", _case(_driver, _traffic)
        )


if __name__ == "__main__":
    WireTest.unavailable = captured_hosts.enter_namespaces()
    testing_main.main()
