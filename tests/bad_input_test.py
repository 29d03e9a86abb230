# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Bad input gets one clear message and the right status, and starts nothing."""

import socket
import unittest

from tests import programs
from tests import testing_main

GOOD = programs.client_server_config("max_iteration_count: 1")


class BadInputTest(programs.ClusterTest):
    def assert_refused(self, outcome, *patterns):
        """Checks for status 1, no stdout, and a message with all patterns."""
        self.assertEqual(outcome.status, 1, outcome)
        self.assertEqual(outcome.out, "", outcome)
        for pattern in patterns:
            self.assertRegex(outcome.err, pattern)

    def assert_refused_everywhere(self, infile, *patterns):
        """Checks all subcommands that read tests; they contact no peer."""
        for command in (
            ["check_test"],
            ["test_preview"],
            ["run_tests", "--test_sequencer=127.0.0.1:1"],
        ):
            with self.subTest(command=command[0]):
                outcome = self.distbench(*command, f"--infile={infile}")
                self.assert_refused(outcome, *patterns)
        self.assert_nothing_runs()

    def test_unknown_flag(self):
        self.assert_refused(
            self.distbench("test_sequencer", "--prot=1"),
            r"unknown flag --prot; did you mean --port\?",
            r"See: distbench help test_sequencer",
        )

    def test_a_timeout_that_no_node_can_keep(self):
        self.assert_refused(
            self.distbench("test_sequencer", "--node_timeout=1ms"),
            r"--node_timeout: must be at least 100ms",
        )

    def test_flag_of_another_subcommand(self):
        self.assert_refused(
            self.distbench("check_test", "--local_nodes=2"),
            r"--local_nodes is not a flag of check_test, but of test_sequencer",
        )

    def test_unknown_subcommand(self):
        self.assert_refused(
            self.distbench("run_test"),
            r'unknown subcommand "run_test"; did you mean "run_tests"\?',
        )

    def test_missing_flag(self):
        self.assert_refused(
            self.distbench("run_tests"), r"--test_sequencer is required"
        )

    def test_missing_file(self):
        self.assert_refused_everywhere(
            self.path("none.config"), r"none\.config", r"[Nn]o such file"
        )

    def test_malformed_proto(self):
        infile = self.write("bad.config", 'tests {\n  name: "a" nmae: "b"\n}\n')
        self.assert_refused_everywhere(infile, r"bad\.config:2:\d+: .*nmae")

    def test_unknown_service(self):
        infile = self.write(
            "bad.config", GOOD.replace('server: "server"', 'server: "sever"')
        )
        self.assert_refused_everywhere(
            infile,
            r'bad\.config:\d+:\d+: '
            r'tests\[0\]\.rpc_descriptions\["ping"\]\.server: .*"sever"',
        )

    def test_every_problem_is_told(self):
        infile = self.write(
            "bad.config",
            GOOD.replace('server: "server"', 'server: "sever"').replace(
                'rpc_name: "ping"', 'rpc_name: "pin"'
            ),
        )
        outcome = self.distbench("check_test", f"--infile={infile}")
        self.assert_refused(
            outcome, r'"sever"', r'"pin".*did you mean "ping"\?'
        )

    def test_good_input_is_said_to_be_good(self):
        infile = self.write("good.config", GOOD)
        outcome = self.distbench("check_test", f"--infile={infile}")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            outcome.out, f"Result: {infile} parsed successfully.\n"
        )

    def test_good_input_is_printed_in_other_formats(self):
        infile = self.write("good.config", GOOD)
        as_json = self.distbench("check_test", "--print=json", infile)
        self.assertEqual(as_json.status, 0, as_json)
        as_yaml = self.distbench("check_test", "--print=yaml", infile)
        again = self.distbench(
            "check_test", "--print=json", self.write("good.yaml", as_yaml.out)
        )
        self.assertEqual(again.out, as_json.out, again)
        self.assert_refused(
            self.distbench("check_test", "--print=yaml", infile, infile),
            "--print prints one config; name a single FILE",
        )

    def test_bad_yaml_has_its_place(self):
        infile = self.write("bad.yaml", "tests:\n- nme: a\n")
        self.assert_refused_everywhere(
            infile, r'bad\.yaml:2:3: .*Did you mean "name"\?'
        )

    def test_port_in_use(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            self.assert_refused(
                self.distbench(
                    "test_sequencer", "--listen=127.0.0.1", f"--port={port}"
                ),
                rf"{port}.* in use",
            )
        self.assert_nothing_runs()

    def test_port_in_use_by_a_sequencer(self):
        address = self.start_sequencer().address
        self.assert_refused(
            self.distbench("test_sequencer", f"--port={address.split(':')[1]}"),
            r"in use",
        )

    def test_no_such_address_to_listen_on(self):
        self.assert_refused(
            self.distbench("test_sequencer", "--listen=192.0.2.1", "--port=0"),
            r"192\.0\.2\.1",
        )

    def test_no_sequencer_at_the_address(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # Not listening: connections fail.
            address = f"127.0.0.1:{unused.getsockname()[1]}"
            infile = self.write("good.config", GOOD)
            for command in (["status"], ["run_tests", f"--infile={infile}"]):
                with self.subTest(command=command[0]):
                    self.assert_refused(
                        self.distbench(*command, f"--test_sequencer={address}"),
                        address,
                    )
        self.assert_nothing_runs()

    def test_address_without_a_port(self):
        for command in ("status", "node_manager"):
            with self.subTest(command=command):
                self.assert_refused(
                    self.distbench(command, "--test_sequencer=localhost"),
                    r"localhost",
                    r"is not HOST:PORT",
                )

    def test_too_few_nodes(self):
        sequencer = self.start_sequencer("--local_nodes=1")
        infile = self.write("good.config", GOOD)
        outcome = self.run_tests(sequencer, infile)
        self.assert_refused(
            outcome, r"needs 2 nodes but .*1 .*registered.*node0"
        )

    def test_outfile_in_a_missing_folder_is_found_before_the_test(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        infile = self.write("good.config", GOOD)
        outfile = self.path("none/a.pb")
        outcome = self.run_tests(sequencer, infile, f"--outfile={outfile}")
        self.assert_refused(outcome, r"none/a\.pb")

    def test_bad_node_arguments(self):
        for arguments, pattern in (
            (["node"], r'"node" is neither an attribute'),
            (["rack=a", "node1"], r'"node1" is neither an attribute'),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(
                    self.distbench(
                        "node_manager",
                        *arguments,
                        "--test_sequencer=127.0.0.1:1",
                    ),
                    pattern,
                )

    def test_file_that_is_no_result(self):
        for name, text in (("text.pb", "no result"), ("empty.pb.gz", "")):
            with self.subTest(name=name):
                path = self.write(name, text)
                self.assert_refused(self.distbench("report", path), name)
        self.assert_refused(
            self.distbench("report", self.path("none.pb")), r"none\.pb"
        )

    def test_report_format_that_there_is_not(self):
        self.assert_refused(
            self.distbench("report", "a.pb", "--format=jsn"),
            r'--format.*did you mean "json"',
        )


if __name__ == "__main__":
    testing_main.main()
