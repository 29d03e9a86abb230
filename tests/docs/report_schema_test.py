# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""docs/report.schema.json is what scripts/generate_reference makes of the protos."""

import json
import unittest

from scripts import reference
from scripts import reference_protos
from scripts import reference_report
from tests import testing_main


def setUpModule():
    global PROTOS
    PROTOS = reference_protos.read(".")


def read_schema():
    with open(reference_report.SCHEMA, encoding="utf-8") as file:
        return file.read()


def without_missing_products(schema, fresh):
    """The schema without what only products add that are not there."""
    for part in (schema["$defs"], schema["properties"]):
        same = fresh["$defs"] if part is schema["$defs"] else fresh["properties"]
        for name in {*part} - {*same}:
            del part[name]
    test, fresh_test = (each["$defs"]["test"]["properties"] for each in (schema, fresh))
    for name in {*test} - {*fresh_test}:
        del test[name]
    return schema


class ReportSchemaTest(unittest.TestCase):
    def test_schema_is_fresh(self):
        fresh = json.loads(reference_report.schema(PROTOS))
        # Not assertEqual, whose message would be the difference of two long texts.
        self.assertTrue(
            fresh == without_missing_products(json.loads(read_schema()), fresh),
            f"{reference_report.SCHEMA} is not what the messages of reports say now; "
            f"run {reference.COMMAND} and commit the schema",
        )

    def test_only_parts_are_members(self):
        # Not the tables beside them in the same files.
        schema = json.loads(read_schema())
        for properties in (schema["properties"], schema["$defs"]["test"]["properties"]):
            self.assertNotIn("", properties)

    def test_what_can_be_absent_may_be_null(self):
        definitions = json.loads(read_schema())["$defs"]
        percentile = definitions["percentile"]
        self.assertEqual(percentile["properties"]["value_ns"]["type"], ["integer", "null"])
        self.assertEqual(percentile["properties"]["failed"], {"type": "boolean"} | {
            "description": percentile["properties"]["failed"]["description"]})
        self.assertIn("value_ns", percentile["required"])
        rpc = definitions["rpc"]["properties"]["service_time"]
        self.assertEqual(rpc["anyOf"][1], {"type": "null"})

    def test_rows_say_what_their_columns_are(self):
        peers = json.loads(read_schema())["$defs"]["peer_table"]["properties"]
        columns = peers["rows"]["items"]["prefixItems"]
        names = [column["title"] for column in columns]
        self.assertEqual(names[:4], ["client", "server", "rpc", "succeeded"])
        self.assertIn("response_p99_ns", names)
        self.assertEqual(columns[0]["type"], "string")


if __name__ == "__main__":
    testing_main.main()
