# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The JSON schema of reports, which other programs read.

scripts/generate_reference makes it of the messages of which reports are made
(proto/report.proto, and those of products), with the rules by which
distbench/base/message_json.cc writes them. It allows what later versions add.
"""

import re

from google.protobuf import descriptor

from scripts import reference_schema

SCHEMA = "docs/report.schema.json"

_FIELD = descriptor.FieldDescriptor
_TYPES = {
    _FIELD.CPPTYPE_BOOL: "boolean",
    _FIELD.CPPTYPE_INT32: "integer",
    _FIELD.CPPTYPE_INT64: "integer",
    _FIELD.CPPTYPE_UINT32: "integer",
    _FIELD.CPPTYPE_UINT64: "integer",
    _FIELD.CPPTYPE_DOUBLE: "number",
    _FIELD.CPPTYPE_FLOAT: "number",
    _FIELD.CPPTYPE_STRING: "string",
}


def schema(protos):
    """The schema as a document of JSON."""
    writer = _Writer(protos)
    report = protos.module("proto/report.proto").Report.DESCRIPTOR
    own = writer.object(report)
    options = report.GetOptions().Extensions[writer.options.document]
    own["properties"]["schema"] = {"const": options.schema}
    own["properties"]["schema_version"] = {"const": options.version}
    for module in protos.report_modules():
        for message in module.DESCRIPTOR.message_types_by_name.values():
            if not message.GetOptions().HasExtension(writer.options.part):
                continue
            part = message.GetOptions().Extensions[writer.options.part]
            where = writer.definitions["test"] if part.is_of_test else own
            where["properties"][part.name] = writer.part(message, part)
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The JSON report of distbench, version {options.version}",
        **own,
        "description": "What distbench report --format=json writes. Members may be "
        "added without a new version. A program that was built without a product "
        "(docs/architecture.md) lacks its members, which are not required.",
        "$defs": writer.definitions,
    }
    return reference_schema.text_of(document) + "\n"


class _Writer:
    """Makes schemas of messages; `definitions` has those that others refer to."""

    def __init__(self, protos):
        self._protos = protos
        self.options = protos.module("proto/json_options.proto")
        self.definitions = {}

    def part(self, message, part):
        if part.is_list:
            return {"type": "array", "items": self._reference(message)}
        return self._message(message)

    def _options(self, message, option):
        return message.GetOptions().Extensions[getattr(self.options, option)]

    def _message(self, message):
        """The value of a field that is a message."""
        reference = self._reference(message)
        is_table = message.GetOptions().HasExtension(self.options.table)
        if is_table or self._options(message, "always"):
            return reference
        return {"anyOf": [reference, {"type": "null"}]}

    def _reference(self, message):
        name = _name_of(message)
        if name not in self.definitions:
            self.definitions[name] = {}  # in its place, also if it has itself
            self.definitions[name] = self._definition(message)
        return {"$ref": f"#/$defs/{name}"}

    def _definition(self, message):
        if message.GetOptions().HasExtension(self.options.table):
            return self._table(message)
        if self._options(message, "is_list"):
            return {**self._said(message), **self._list(message), "items": False}
        return self.object(message)

    def _said(self, message):
        comment = self._protos.comment_of(message)
        return {"description": _flowing(comment)} if comment else {}

    def object(self, message):
        properties = dict(self._properties(message))
        return {
            **self._said(message),
            "type": "object",
            "required": list(properties),
            "properties": properties,
        }

    def _list(self, message):
        items = [
            {"title": name, **value} for name, value in self._properties(message)
        ]
        return {"type": "array", "prefixItems": items, "minItems": len(items)}

    def _table(self, message):
        """Later versions append columns."""
        rows = message.fields_by_name["rows"].message_type
        return {
            "description": f"The columns, and rows of their values."
            f" {self._options(message, 'table').about}".strip(),
            "type": "object",
            "required": ["columns", "rows", "rows_left_out"],
            "properties": {
                "columns": {"type": "array", "items": {"type": "string"}},
                "rows": {"type": "array", "items": self._list(rows)},
                "rows_left_out": {"type": "integer", "minimum": 0},
            },
        }

    def _properties(self, message, before=""):
        comments = self._protos.comments_of_fields(message)
        for field, comment in zip(message.fields, comments):
            options = field.GetOptions()
            if options.HasExtension(self.options.prefix):
                prefix = before + options.Extensions[self.options.prefix]
                yield from self._properties(field.message_type, prefix)
                continue
            said = {"description": _flowing(comment)} if comment else {}
            yield before + _key_of(field), {**said, **self._field(field)}

    def _field(self, field):
        target = field.message_type
        if target and target.GetOptions().map_entry:
            value = target.fields_by_name["value"]
            return {"type": "object", "additionalProperties": self._value(value)}
        if field.label == _FIELD.LABEL_REPEATED:
            return {"type": "array", "items": self._item(field)}
        if target:
            return self._message(target)
        value = self._value(field)
        if not field.has_presence:
            return value
        if "enum" in value:
            return {"enum": [*value["enum"], None]}
        return {**value, "type": [value["type"], "null"]}

    def _item(self, field):
        value = self._value(field)
        # What is not finite.
        if value.get("type") == "number":
            value = {"type": ["number", "null"]}
        return value

    def _value(self, field):
        if field.message_type:
            return self._reference(field.message_type)
        words = field.GetOptions().Extensions[self.options.words]
        if words:
            return {"enum": list(words)}
        return {"type": _TYPES[field.cpp_type]}


def _key_of(field):
    """The name, unless the file gives another one for JSON."""
    usual = re.sub("_(.)", lambda found: found[1].upper(), field.name)
    return field.name if field.json_name == usual else field.json_name


def _name_of(message):
    """Of a product, with the name of its part in front."""
    names = []
    while message:
        names.insert(0, message.name.removeprefix("Reported"))
        message = message.containing_type
    if names[0] == "Report":
        del names[0]
    words = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", "_".join(names))
    return words.lower()


def _flowing(comment):
    return re.sub(r"(?<!\n)\n(?!\n) *", " ", comment)
