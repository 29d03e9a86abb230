# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A JSON schema of the traffic language, for editors of configs in YAML or JSON.

scripts/generate_reference writes it beside the reference (reference.py), of the same
comments and options. It refuses nothing that distbench accepts, except what editors had
better complain about: null, which is also what a value that was forgotten looks like in
YAML; enums as numbers; true and false in quotes; and the names of fields in
lowerCamelCase. It accepts more, as what holds between parts of a test is not said in it.

It keeps to draft 7, which all editors know. There, nothing counts beside "$ref".
"""

import json
import re

from google.protobuf import descriptor

from scripts import reference
from scripts import reference_conflicts
from scripts import reference_words

SCHEMA = "docs/traffic_config.schema.json"
_COLUMNS = 90

_FIELD = descriptor.FieldDescriptor
_INTEGERS = {
    _FIELD.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    _FIELD.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    _FIELD.CPPTYPE_UINT32: (0, 2**32 - 1),
    _FIELD.CPPTYPE_UINT64: (0, 2**64 - 1),
}

# What YAML and JSON may take an unquoted text for.
_ANY_TEXT = ["string", "number", "boolean"]

_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_PLAIN = "^[A-Za-z0-9_.-]*$"
_INDICES = r"[0-9]+(-[0-9]+)?"
_SPECIAL_NUMBERS = r"-?\.inf|\.nan|-?Infinity|NaN"

# Texts with units (config/syntax/quantity.h).
_DURATION = {
    "type": "string",
    "pattern": rf"^(({_NUMBER}(ns|us|ms|s|m|h))+|0)$",
    "patternErrorMessage": "Must be a duration with its unit, such as 500ms or 1h30m.",
}
_SIZE = {
    "type": "string",
    "pattern": rf"^{_NUMBER}(B|kB|KB|MB|GB|KiB|MiB|GiB)$",
    "patternErrorMessage": "Must be a size with its unit, such as 100B, 256KiB or 1MB.",
}
_RATE = {
    "type": "string",
    "pattern": rf"^{_NUMBER}(k|M)?/(s|min|h)$",
    "patternErrorMessage": "Must be a rate with its unit, such as 200/s, 1.5k/s or 6/min.",
}
_QUANTITIES = {
    "NANOSECONDS": _DURATION,
    "MICROSECONDS": _DURATION,
    "BYTES": _SIZE,
    "INTERVAL_OF_RATE": _RATE,
}

# The greatest numbers of them (proto/rules.proto).
_GREATEST = {"NANOSECONDS": 10**18, "MICROSECONDS": 10**15}

# Those of gRPC.
_ERROR_CODES = [
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
]


def schema(protos):
    """The schema as a document of JSON."""
    root, *others = reference.messages_of(protos)
    (test,) = [message for message in others if message.name == reference.TEST]
    lists = {field.message: field for field in test.fields if field.rules.element}
    parts = {
        field.message
        for message in others
        for field in message.fields
        if field.rules.completed
    }
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Traffic config of distbench",
        **_object(root),
        "definitions": {
            message.name: _object(
                message, lists.get(message.name), message.name in parts
            )
            for message in others
        },
    }
    return text_of(document) + "\n"


def text_of(value, margin=""):
    """JSON in which all that fits is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(margin + line) <= _COLUMNS or not isinstance(value, (dict, list)):
        return line
    inner = margin + "  "
    if isinstance(value, list):
        items = [inner + text_of(item, inner) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{margin}]"
    items = [f"{inner}{json.dumps(k)}: {text_of(v, inner)}" for k, v in value.items()]
    return "{\n" + ",\n".join(items) + f"\n{margin}}}"


# ---- Messages -----------------------------------------------------------------


def _object(message, list_of_test=None, is_part=False):
    """The messages may be elements of a list of a test, which must have names; or parts
    that others complete, of which nothing must be there."""
    descriptions = {
        field.name: _description(row, field)
        for row in reference.rows_of(message)
        for field in row
    }
    numbers = {field.name: field for field in message.fields}
    properties = {}
    for field in message.fields:
        said = {"description": descriptions[field.name]}
        if field.rules.deprecated:
            said["deprecated"] = True
            said["deprecationMessage"] = f"Deprecated: {field.rules.deprecated}."
        number = numbers.get(field.rules.text_of)
        properties[field.name] = {**said, **_field(field, number)}
    result = {
        "description": _flowing(message.comment),
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if is_part:
        return result
    required, alternatives = _required(message)
    if list_of_test:
        required.insert(0, "name")
        if list_of_test.rules.plain:
            properties["name"]["pattern"] = _PLAIN
    if required:
        result["required"] = required
    further = alternatives + reference_conflicts.schemas(message)
    if further:
        result["allOf"] = further
    return result


def _required(message):
    """Fields that must be given, and schemas that need one of several."""
    texts = {f.rules.text_of: f.name for f in message.fields if f.rules.text_of}
    required, alternatives = [], []
    for field in message.fields:
        if not field.rules.required and not field.rules.missing:
            continue
        names = [field.name, *field.rules.unless]
        names += filter(None, [texts.get(field.name)])
        if len(names) == 1:
            required += names
        else:
            alternatives.append({"anyOf": [{"required": [name]} for name in names]})
    return required, alternatives


def _flowing(comment):
    """The comment with a line for each paragraph, and for each item of a list."""
    return re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", comment)


def _description(row, field):
    """The field's own comment; or that of the row, if it has none or is the text of a
    number, which the comment of the number explains."""
    says_all = field.comment and not field.rules.text_of
    fields = [field] if says_all else sorted(row, key=lambda f: bool(f.rules.text_of))
    parts = [_flowing(other.comment) for other in fields if other.comment]
    if field.product:
        parts.append(f'Of the product "{field.product}".')
    parts += filter(None, [reference_words.history(field)])
    return "\n\n".join(parts)


# ---- Fields ---------------------------------------------------------------------


def _field(field, number):
    """`number` is that of a text that is a quantity."""
    if field.is_map:
        return {"type": "object", "additionalProperties": _value(field, number)}
    if not field.is_repeated:
        value = _value(field, number)
        if field.message:
            return {"allOf": [value]}
        if field.has_default:
            value["default"] = field.default
        return value
    result = {"type": "array", "items": _value(field, number)}
    rules = field.rules
    if rules.required or rules.missing:
        result["minItems"] = max(1, rules.min)
    if rules.HasField("max"):
        result["maxItems"] = rules.max
    if rules.distinct:
        result["uniqueItems"] = True
    return result


def _value(field, number):
    if field.message:
        return {"$ref": f"#/definitions/{field.message}"}
    if field.enum:
        return {
            "enum": [name for name, _ in field.enum],
            "enumDescriptions": [_flowing(comment) for _, comment in field.enum],
        }
    if field.kind == _FIELD.CPPTYPE_BOOL:
        return {"type": "boolean"}
    if field.kind in _INTEGERS:
        return _integer(field)
    if field.kind in (_FIELD.CPPTYPE_DOUBLE, _FIELD.CPPTYPE_FLOAT):
        return _fraction(field.rules)
    if field.kind == "bytes":
        return {"type": "string", "contentEncoding": "base64"}
    return _text(field, number)


def _integer(field):
    least, most = _INTEGERS[field.kind]
    if not field.is_repeated:
        rules = field.rules
        if rules.HasField("min") or rules.HasField("max") or rules.unit:
            least = rules.min
            most = _GREATEST.get(reference_words.unit_of(rules), most)
        if rules.HasField("max"):
            most = rules.max
    return {
        # Numbers may be in quotes, as 64 bits are in protobuf's JSON.
        "type": ["integer", "string"],
        "pattern": "^-?[0-9]+$",
        "minimum": least,
        "maximum": most,
    }


def _fraction(rules):
    result = {
        "type": ["number", "string"],
        "pattern": rf"^(-?[0-9.]+([eE][-+]?[0-9]+)?|{_SPECIAL_NUMBERS})$",
    }
    for name, keyword in (
        ("at_least", "minimum"),
        ("above", "exclusiveMinimum"),
        ("at_most", "maximum"),
        ("below", "exclusiveMaximum"),
    ):
        if rules.HasField(name):
            result[keyword] = getattr(rules, name)
    return result


def _text(field, number):
    rules = field.rules
    unit = reference_words.unit_of(rules if rules.unit or not number else number.rules)
    if unit in _QUANTITIES:
        return dict(_QUANTITIES[unit])
    if rules.words or rules.error_code:
        words = [*rules.words] or _ERROR_CODES
        return {"enum": words + [""] * (rules.empty_is_default and "" not in words)}
    if rules.index_list:
        return {
            "type": ["string", "integer"],
            "pattern": rf"^\s*{_INDICES}(,{_INDICES})*\s*$",
        }
    result = {"type": _ANY_TEXT}
    if rules.plain and not rules.element:
        result["pattern"] = _PLAIN
    if rules.max_length:
        result["maxLength"] = rules.max_length
    return result
