# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Audits network settings: the DSCP and ECN that tcpdump sees on the link, and
what the result says that sockets had."""

import json

from tests import testing_main
from tests.audit import capture
from tests.audit import captured_hosts

CLIENT_DSCP = 10
SERVER_DSCP = 46
_SYN = 0x02

# Of the two bits beside the DSCP: a sender that uses ECN.
_ECN_CAPABLE = (1, 2, 3)


def _config(name, driver, settings):
    return f"""
tests {{
  name: "{name}"
  protocol_driver_options {{
    name: "default_protocol_driver_options" protocol_name: "{driver}"
    {settings}
  }}
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  rpc_descriptions {{
    name: "ping" client: "client" server: "server"
    request_payload_name: "message" response_payload_name: "message"
  }}
  payload_descriptions {{ name: "message" size: 1000 }}
  actions {{
    name: "send" rpc_name: "ping" iterations {{ max_iteration_count: 100 }}
  }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""


_DSCP = f"""
  client_settings {{ name: "dscp" int64_value: {CLIENT_DSCP} }}
  server_settings {{ name: "dscp" int64_value: {SERVER_DSCP} }}"""
_ECN = 'client_settings { name: "ecn" string_value: "require" }'


class NetworkSettingsTest(captured_hosts.CapturedHostsTest):
    def setUp(self):
        super().setUp()
        self.set_ecn(2)  # as Linux by default: not unless somebody asks

    def set_ecn(self, mode):
        for name in ("node0", "node1"):
            self.hosts[name].run(
                "sh", "-c", f"echo {mode} > /proc/sys/net/ipv4/tcp_ecn"
            )

    def segments_by_sender(self, records):
        """Returns the segments with data or a SYN, by the sender's address."""
        senders = {}
        for record in records:
            segment = capture.parse(*record)
            if segment.data or segment.flags & _SYN:
                senders.setdefault(segment.source[0], []).append(segment)
        return senders

    def folded(self, run):
        """Returns the texts of the network settings in the result."""
        document = json.loads(self.report(run, "--format=json"))
        return [
            entry["text"] for entry in document["tests"][0]["network_settings"]
        ]

    def check_dscp(self, driver):
        run, records = self.capture(driver, _config(driver, driver, _DSCP))
        senders = self.segments_by_sender(records)
        expected = {"node0": CLIENT_DSCP, "node1": SERVER_DSCP}
        for name, dscp in expected.items():
            address = bytes(
                int(part) for part in self.hosts[name].address.split(".")
            )
            self.assertEqual({s.dscp for s in senders[address]}, {dscp}, name)
        texts = "\n".join(self.folded(run))
        self.assertRegex(
            texts, rf"all \d+ connections that client made: dscp {CLIENT_DSCP}"
        )
        self.assertRegex(
            texts,
            rf"all \d+ connections that server accepted: dscp {SERVER_DSCP}",
        )

    def test_dscp_of_tcp(self):
        self.check_dscp("tcp")

    def test_dscp_of_http2(self):
        self.check_dscp("http2")

    def test_dscp_of_thrift(self):
        self.check_dscp("thrift")

    def test_required_ecn_is_used(self):
        self.set_ecn(1)
        run, records = self.capture("ecn", _config("ecn", "tcp", _ECN))
        for sender, segments in self.segments_by_sender(records).items():
            self.assertTrue(
                any(s.ecn in _ECN_CAPABLE for s in segments), sender
            )
        self.assertRegex("\n".join(self.folded(run)), "made: ecn require")

    def test_required_ecn_that_nobody_asks_for_is_an_error(self):
        outcome = self.cluster.start_run(_config("ecn", "tcp", _ECN)).finish()
        self.assertNotEqual(outcome.status, 0)
        self.assertIn("ECN was not negotiated", outcome.err + outcome.out)

    def test_what_a_host_does_not_permit_is_an_error(self):
        settings = (
            'client_settings { name: "congestion_control" '
            'string_value: "no_such" }'
        )
        run = self.cluster.start_run(_config("refused", "tcp", settings))
        outcome = run.finish()
        self.assertNotEqual(outcome.status, 0)
        self.assertRegex(
            outcome.err + outcome.out,
            "(client|server)/0: .*client_settings: the setting congestion_control "
            "cannot be no_such: .*; name one that this host permits: .*reno",
        )


if __name__ == "__main__":
    NetworkSettingsTest.unavailable = captured_hosts.enter_namespaces()
    testing_main.main()
