# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""TLS between real processes, with certificates as in docs/security.md."""

import re
import time
import unittest
import urllib.request

from tests import certificates
from tests import programs
from tests import testing_main


def with_driver(config, driver):
    """Returns the config with all traffic through this driver."""
    return config.replace(
        "tests {",
        f"""tests {{
  default_protocol: "p"
  protocol_driver_options {{ name: "p" protocol_name: "{driver}" }}""",
        1,
    )


class SecurityTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.authority = certificates.Authority(self.folder, "authority")
        self.host = self.authority.flags("host", "DNS:localhost,IP:127.0.0.1")
        self.alice = self.authority.flags("alice", "DNS:alice.example")

    def start_tls_node(self, sequencer, *flags):
        node = self.start(
            programs.DISTBENCH,
            "node_manager",
            f"--test_sequencer={sequencer.address}",
            "--service_address=127.0.0.1",
            *flags,
        )
        node.wait_for(r"^node\d+ registered with ")
        return node

    def config(self, driver, iterations="max_iteration_count: 100"):
        text = programs.client_server_config(iterations)
        return self.write(f"{driver}.config", with_driver(text, driver))

    def test_traffic_of_all_drivers_is_encrypted(self):
        sequencer = self.start_sequencer(*self.host)
        for _ in range(2):
            self.start_tls_node(sequencer, *self.host)
        for driver in ("grpc", "http2", "tcp", "thrift"):
            with self.subTest(driver=driver):
                outfile = self.path(f"{driver}.out")
                outcome = self.run_tests(
                    sequencer,
                    self.config(driver),
                    f"--outfile={outfile}",
                    *self.alice,
                )
                if programs.lacks_driver(outcome):
                    self.skipTest(f"{driver} is not built in")
                self.assertEqual(outcome.status, 0, outcome)
                with open(outfile, encoding="utf-8") as file:
                    result = file.read()
                self.assertRegex(result, 'endpoint_address: "tls:.*127.0.0.1')
                # Results contain no secrets.
                self.assertNotIn("nonce", result)
                self.assertNotIn(self.folder, result)

    def test_mixed_clusters_are_refused(self):
        # Without --tls_ca the sequencer's own nodes cannot use TLS.
        sequencer = self.start_sequencer("--local_nodes=1", *self.host[1:])
        self.start_tls_node(sequencer, *self.host)
        outcome = self.run_tests(sequencer, self.config("tcp"), *self.host)
        self.assertEqual(outcome.status, 1, outcome)  # before any traffic
        self.assertRegex(
            outcome.out + outcome.err,
            r"client/0: the node of peer \S+ .*TLS for its traffic.*"
            r"start all nodes.*server/0 at ",
        )

    def test_names_decide_who_may_submit(self):
        sequencer = self.start_sequencer(
            "--allow_submit=alice.example", *self.host
        )
        for _ in range(2):
            self.start_tls_node(sequencer, *self.host)
        bob = self.authority.flags("bob", "DNS:bob.example")
        outcome = self.run_tests(sequencer, self.config("grpc"), *bob)
        self.assertNotEqual(outcome.status, 0, outcome)
        self.assertRegex(
            outcome.err, "--allow_submit does not list any name .*bob.example"
        )
        outcome = self.run_tests(sequencer, self.config("grpc"), *self.alice)
        self.assertEqual(outcome.status, 0, outcome)

    def test_exposure_is_said_at_the_start(self):
        sequencer = self.start_sequencer()
        sequencer.wait_for(
            "^Every user of this machine can submit tests.*no TLS"
        )
        node = self.start_node(sequencer)
        node.wait_for(
            "^While a test runs, every user of this machine can reach"
        )
        secured = self.start_sequencer(*self.host)
        secured.wait_for(r"^TLS: certificates must be signed by .*ca\.crt")
        everywhere = self.start(
            programs.DISTBENCH, "test_sequencer", "--port=0"
        )
        everywhere.wait_for("^Anybody who can reach .*--listen restricts")

    def test_flags_that_do_not_fit_are_errors(self):
        for flags, message in (
            (["--allow_submit=alice"], "--allow_submit and --allow_node name"),
            (self.host[:2], "TLS needs --tls_key as well"),
            (
                ["--tls_cert=/no/such", self.host[2]],
                "--tls_cert=/no/such: cannot",
            ),
        ):
            with self.subTest(flags=flags):
                outcome = self.distbench("test_sequencer", "--port=0", *flags)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn(message, outcome.err)

    def test_metrics_tell_of_the_traffic(self):
        sequencer = self.start_sequencer("--metrics_port=0")
        port = sequencer.wait_for(r"^Metrics at port (\d+)$").group(1)
        self.assertEqual(self.metric(port, "distbench_nodes"), 0)
        # The client's node, because it has the lower name.
        node = self.start_node(
            sequencer, "node0", "--metrics_port=0", "--listen=127.0.0.1"
        )
        node_port = node.wait_for(r"^Metrics at port (\d+)$").group(1)
        self.assertEqual(self.metric(port, "distbench_nodes"), 1)
        self.assertEqual(self.metric(node_port, "distbench_registered"), 1)
        self.start_node(sequencer)
        outcome = self.run_tests(sequencer, self.config("grpc"))
        self.assertEqual(outcome.status, 0, outcome)
        name = "distbench_rpcs_succeeded_total"
        self.assertEqual(self.metric(node_port, name), 100)
        self.assertGreater(
            self.metric(port, "process_resident_memory_bytes"), 1e6
        )
        # The client learns of the end first.
        ended = 'distbench_runs_ended_total{outcome="done"}'
        deadline = time.monotonic() + programs.DEADLINE_SECONDS
        while self.metric(port, ended) == 0 and time.monotonic() < deadline:
            pass
        self.assertEqual(self.metric(port, ended), 1)

    @staticmethod
    def metric(port, name):
        url = f"http://127.0.0.1:{port}/metrics"
        with urllib.request.urlopen(url, timeout=20) as answer:
            text = answer.read().decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE).group(1))


if __name__ == "__main__":
    testing_main.main()
