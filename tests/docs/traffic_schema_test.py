# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""docs/traffic_config.schema.json is what scripts/generate_reference makes of the protos,
accepts the configs of this repository, and refuses what is wrong in itself."""

import glob
import importlib
import json
import re
import unittest

from google.protobuf import json_format
from google.protobuf import text_format

from scripts import reference
from scripts import reference_protos
from scripts import reference_schema
from tests import testing_main

try:
    import grpc
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

CONFIGS = ("docs/examples/*.config", "workloads/*.config", "workloads/real/*/test.config")


def setUpModule():
    global PROTOS
    PROTOS = reference_protos.read(".")


def read_schema():
    with open(reference_schema.SCHEMA, encoding="utf-8") as file:
        return file.read()


def errors_of(config):
    """Returns places and reasons."""
    validator = jsonschema.Draft7Validator(json.loads(read_schema()))
    return [
        f"{error.json_path}: {error.message[-200:]}"
        for error in validator.iter_errors(config)
    ]


def json_of(path):
    """What is in a config in text format, as protobuf's JSON."""
    language = importlib.import_module("proto.traffic_config_pb2")
    with open(path, encoding="utf-8") as file:
        sequence = text_format.Parse(file.read(), language.TestSequence())
    return json_format.MessageToDict(sequence, preserving_proto_field_name=True)


def parse(text):
    """The first test of a config in YAML."""
    return yaml.safe_load(text)["tests"][0]


def without_quotes(value):
    """As YAML reads it if nothing has quotes that can be without."""
    if isinstance(value, dict):
        return {key: without_quotes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_quotes(item) for item in value]
    is_number = isinstance(value, str) and re.fullmatch(r"-?\d+", value)
    return int(value) if is_number else value


FIRST = """
tests:
- services:
  - {name: client, count: 1}
  - {name: server, count: 1}
  rpc_descriptions:
  - {name: greet, client: [client], server: server, deadline: 50ms}
  payload_descriptions:
  - {name: small, size_with_unit: 1.5KiB}
  actions:
  - name: call
    rpc_name: greet
    iterations: {rate: 200/s, max_duration: 1h30m, warmup_iterations: 5}
  action_lists:
  - {name: client, action_names: [call]}
  - {name: greet}
  overload_limits: {max_threads: '10'}
"""


class TrafficSchemaTest(unittest.TestCase):
    def test_schema_is_fresh(self):
        # Not assertEqual, whose message would be the difference of two long files.
        self.assertTrue(
            reference_schema.schema(PROTOS) == read_schema(),
            f"{reference_schema.SCHEMA} is not what the files of proto/ say now; run "
            f"{reference.COMMAND} and commit the file",
        )

    def test_every_field_says_what_it_is(self):
        for name, message in json.loads(read_schema())["definitions"].items():
            self.assertTrue(message["description"], name)
            for field, said in message["properties"].items():
                self.assertTrue(said["description"], f"{name}.{field}")


@unittest.skipUnless(jsonschema, "needs python3-{grpcio,jsonschema,yaml}")
class ConfigsTest(unittest.TestCase):
    def assert_wrong(self, test, place):
        errors = errors_of({"tests": [test]})
        field = re.escape(place)
        # jsonschema from 4.20 on names what holds a field that may not be, not the field.
        holder = re.escape(place.rpartition(".")[0])
        wrong = re.compile(rf"\$\.tests\[0\]({field}[.:]|{holder}: False schema)")
        self.assertTrue(any(map(wrong.match, errors)), (place, errors))

    def test_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(json.loads(read_schema()))

    def test_configs_of_the_repository_are_right(self):
        paths = [path for pattern in CONFIGS for path in glob.glob(pattern)]
        self.assertGreater(len(paths), 50)
        for path in paths:
            config = json_of(path)
            self.assertEqual(errors_of(config), [], path)
            self.assertEqual(errors_of(without_quotes(config)), [], path)

    def test_examples_in_yaml_are_right(self):
        with open("docs/command_line.md", encoding="utf-8") as file:
            blocks = re.findall(r"^```yaml\n(.*?)^```$", file.read(), re.M | re.S)
        self.assertTrue(blocks)
        for block in [*blocks, FIRST]:
            self.assertEqual(errors_of(yaml.safe_load(block)), [], block)

    def test_texts_may_look_like_something_else(self):
        for name in ["no", "12", "1.5"]:
            config = FIRST.replace("name: small", f"name: {name}")
            self.assertEqual(errors_of(yaml.safe_load(config)), [], name)

    def test_what_is_wrong_in_a_field(self):
        for old, new, place in [
            ("count: 1", "cuont: 1", ".services[0]"),
            ("count: 1", "count: one", ".services[0].count"),
            ("deadline: 50ms", "deadline: 50", ".rpc_descriptions[0].deadline"),
            ("deadline: 50ms", "deadline: 50 ms", ".rpc_descriptions[0].deadline"),
            ("50ms", "50ms, deadline_us: 5", ".rpc_descriptions[0].deadline_us"),
            ("[client]", "client", ".rpc_descriptions[0].client"),
            ("[client]", "[client, client]", ".rpc_descriptions[0].client"),
            ("[client]", "[]", ".rpc_descriptions[0].client"),
            ("server: server, ", "", ".rpc_descriptions[0]"),
            ("{name: small, ", "{", ".payload_descriptions[0]"),
            ("name: server", "name: a/b", ".services[1].name"),
            ("1.5KiB", "1.5Kib", ".payload_descriptions[0].size_with_unit"),
            ("200/s", "200", ".actions[0].iterations.rate"),
            ("iterations: 5", "iterations: -5", ".actions[0].iterations.warmup_iterations"),
            ("'10'", "0", ".overload_limits.max_threads"),
            ("'10'", "ten", ".overload_limits.max_threads"),
        ]:
            self.assertIn(old, FIRST)
            self.assert_wrong(parse(FIRST.replace(old, new)), place)

    def test_wrong_words_and_fractions(self):
        for field, value, place in [
            ("requirements", {"strict": "maybe"}, ".requirements.strict"),
            (
                "server_faults",
                [{"service": "server", "error_code": "BROKEN"}],
                ".server_faults[0].error_code",
            ),
            (
                "server_faults",
                [{"service": "server", "freeze": True, "probability": 1.5}],
                ".server_faults[0].probability",
            ),
            ("search", {"tolerance": 0}, ".search.tolerance"),
        ]:
            self.assert_wrong({**parse(FIRST), field: value}, place)

    def test_what_does_not_go_together(self):
        for fields, place in [
            ({"numa_binding": {"cpus": "0", "nodes": "0"}}, ".numa_binding.cpus"),
            ({"numa_binding": {"cpus": "0", "spread": True}}, ".numa_binding.spread"),
            ({"numa_binding": {"instances_per_node": 2}}, ".numa_binding"),
            ({"admission": {"max_running": 1, "refuse": "oldest"}}, ".admission.refuse"),
            ({"y_size": 2}, ".y_size"),
        ]:
            test = parse(FIRST)
            test["services"][1].update(fields)
            self.assert_wrong(test, f".services[1]{place}")

    def test_defaults_count_where_fields_do_not_go_together(self):
        test = parse(FIRST)
        test["services"][0]["numa_binding"] = {"memory_nodes": "0"}
        self.assertEqual(errors_of({"tests": [test]}), [])
        test["services"][0]["numa_binding"]["memory_policy"] = "LOCAL"
        self.assert_wrong(test, ".services[0].numa_binding.memory_nodes")

    def test_one_of_a_choice(self):
        test = parse(FIRST)
        test["actions"][0]["action_list_name"] = "greet"
        self.assert_wrong(test, ".actions[0].action_list_name")

    def test_codes_of_errors_are_those_of_grpc(self):
        fault = json.loads(read_schema())["definitions"]["ServerFault"]
        self.assertEqual(
            sorted(fault["properties"]["error_code"]["enum"]),
            sorted(code.name for code in grpc.StatusCode if code.name != "OK"),
        )


if __name__ == "__main__":
    testing_main.main()
