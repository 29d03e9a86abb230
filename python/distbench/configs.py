# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Reads configs of tests (proto/traffic_config.proto)."""

import os

from google.protobuf import text_format

from distbench._proto import traffic_config_pb2
from distbench.errors import ConfigError

# A path of a config, its text, or the message. A string with a brace is a text,
# any other a path.
Tests = str | os.PathLike[str] | traffic_config_pb2.TestSequence


def read_tests(tests: Tests) -> traffic_config_pb2.TestSequence:
    """Reads a config.

    Raises:
        ConfigError: it cannot be read, or it is not a config; names the place.
    """
    if isinstance(tests, traffic_config_pb2.TestSequence):
        return tests
    source, text = "the text", tests
    if not isinstance(tests, str) or "{" not in tests:
        source = os.fspath(tests)
        try:
            with open(source, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read tests from {source}: {error}") from None
    sequence = traffic_config_pb2.TestSequence()
    try:
        text_format.Parse(str(text), sequence)
    except text_format.ParseError as error:
        raise ConfigError(f"{source} is not a config of tests: {error}") from None
    if not sequence.tests:
        raise ConfigError(f"{source} has no tests; write tests {{ ... }}")
    return sequence
