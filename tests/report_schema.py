# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The schema of the JSON report, and what of a document it does not allow."""

import json
import os

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = os.path.abspath("docs/report.schema.json")


def read():
    with open(SCHEMA, encoding="utf-8") as file:
        return json.load(file)


def closed(schema):
    """The schema without room for members that it does not list."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if "properties" in schema and isinstance(schema["properties"], dict):
        result.setdefault("additionalProperties", False)
    return result


def errors_of(document):
    """Returns what the schema does not allow, or does not list."""
    validator = jsonschema.Draft202012Validator(closed(read()))
    return [
        f"{error.json_path}: {error.message[:200]}"
        for error in validator.iter_errors(document)
    ]
