# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests where a client finds a sequencer and its TLS files, and how it reads
tests; tests/python/client_test.py connects."""

import os
import tempfile
import unittest

from distbench._channel import Endpoint, find_endpoint, open_channel
from distbench._proto import traffic_config_pb2
from distbench.configs import read_tests
from distbench.errors import ConfigError
from tests import testing_main

ENVIRONMENT = {
    "DISTBENCH_TEST_SEQUENCER": "host1:1",
    "DISTBENCH_TLS_CA": "/job/ca.crt",
    "DISTBENCH_TLS_CERT": "/job/tls.crt",
    "DISTBENCH_TLS_KEY": "/job/tls.key",
    "DISTBENCH_TLS_NAME": "distbench-job",
}


def find(environment, address=None, **files):
    return find_endpoint(environment, address=address, **files)


class EndpointTest(unittest.TestCase):
    def test_the_environment_says_what_arguments_do_not(self):
        self.assertEqual(
            find(ENVIRONMENT),
            Endpoint(
                "host1:1",
                "/job/ca.crt",
                "/job/tls.crt",
                "/job/tls.key",
                "distbench-job",
            ),
        )
        found = find(ENVIRONMENT, "host2:2", tls_ca="mine.crt")
        self.assertEqual((found.address, found.tls_ca), ("host2:2", "mine.crt"))
        self.assertEqual(found.tls_cert, "/job/tls.crt")

    def test_an_endpoint_is_found_by_its_environment(self):
        for environment in ({"DISTBENCH_TEST_SEQUENCER": "host1:1"}, ENVIRONMENT):
            self.assertEqual(find(environment).environment(), environment)

    def test_an_empty_argument_hides_the_environment(self):
        nothing = {"tls_ca": "", "tls_cert": "", "tls_key": "", "tls_name": ""}
        self.assertEqual(find(ENVIRONMENT, **nothing), Endpoint("host1:1"))

    def test_incomplete_settings_are_refused(self):
        for environment, problem in (
            ({}, "DISTBENCH_TEST_SEQUENCER"),
            ({"DISTBENCH_TEST_SEQUENCER": ""}, "no sequencer is given"),
            ({**ENVIRONMENT, "DISTBENCH_TLS_KEY": ""}, "belong together"),
            ({**ENVIRONMENT, "DISTBENCH_TLS_CA": ""}, "need tls_ca"),
        ):
            with self.assertRaisesRegex(ConfigError, problem):
                find(environment)

    def test_addresses_are_checked(self):
        for address in ("localhost:10000", "10.0.0.1:1", "[::1]:65535"):
            self.assertEqual(find({}, address).address, address)
        for address in ("nowhere", "a:", ":1", "a:0", "a:65536", "a:b", "::1", "::1:1"):
            with self.assertRaisesRegex(ConfigError, "is not HOST:PORT"):
                find({}, address)

    def test_a_missing_file_is_named(self):
        with self.assertRaisesRegex(ConfigError, "tls_ca: cannot read /none/ca.crt"):
            open_channel(Endpoint("localhost:1", tls_ca="/none/ca.crt"))


class ReadTestsTest(unittest.TestCase):
    def test_texts_paths_and_messages_are_read(self):
        text = 'tests { name: "a" }'
        with tempfile.NamedTemporaryFile(
            "w", dir=os.environ.get("TEST_TMPDIR")
        ) as file:
            file.write(text)
            file.flush()
            from_path = read_tests(file.name)
        self.assertEqual(from_path, read_tests(text))
        self.assertEqual(from_path.tests[0].name, "a")
        self.assertIs(read_tests(from_path), from_path)

    def test_problems_name_the_place(self):
        for tests, problem in (
            ("missing.config", "cannot read tests from missing.config"),
            ("tests { nme: 1 }", "the text is not a config of tests: 1:9.*nme"),
            ("tests_setting { }", "has no tests"),
        ):
            with self.assertRaisesRegex(ConfigError, problem):
                read_tests(tests)
        self.assertIsInstance(
            read_tests("tests { }"), traffic_config_pb2.TestSequence
        )


if __name__ == "__main__":
    testing_main.main()
