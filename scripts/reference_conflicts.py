# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What fields of a message do not go together, as JSON schemas (reference_schema.py).

Each is an "if" of the conditions of proto/rules.proto, and a "then" that always fails: at
the field that is wrong if there is one, else at the message. Editors show its
"errorMessage", which other readers of schemas ignore.
"""

from google.protobuf import descriptor

_TEXT = descriptor.FieldDescriptor.CPPTYPE_STRING
_BOOL = descriptor.FieldDescriptor.CPPTYPE_BOOL


def schemas(message):
    conditions = _Conditions(message)
    return [
        {
            "if": conditions.all_of(when),
            "then": {**conditions.failing(at, when), "errorMessage": f"{problem}."},
        }
        for when, at, problem in [*_of_fields(message), *_of_message(message)]
    ] + [
        _alternative(field.name, others)
        for field in message.fields
        for others in [_alternatives_of(message, field)]
        if others
    ]


def _of_fields(message):
    """Those that single options stand for, as conditions, field, and problem."""
    for field in message.fields:
        rules = field.rules
        if rules.excludes:
            problem = f"Has both {field.name} and {rules.excludes}; give one"
            yield [field.name, rules.excludes], field.name, problem
        if rules.not_with:
            problem = f"Does not go together with {rules.not_with}; remove one of them"
            yield [field.name, rules.not_with], field.name, problem
        if rules.needs:
            yield [field.name, f"!{rules.needs}"], field.name, (
                f"Needs {rules.needs}; add it"
            )


def _of_message(message):
    """Without those that compare numbers, or are about what other messages have."""
    for conflict in message.conflicts:
        if any(set(text) & set("<>.") for text in [*conflict.when, *conflict.at]):
            continue
        problem = conflict.problem[0].upper() + conflict.problem[1:]
        of_several = [[at] if len(conflict.at) > 1 else [] for at in conflict.at]
        for at, given in zip(conflict.at or [""], of_several or [[]]):
            yield [*conflict.when, *given], at, problem


def _alternatives_of(message, field):
    """Other fields of a oneof, and the number of a text."""
    if field.rules.text_of:
        return [field.rules.text_of]
    others = (f for f in message.fields if f.oneof == field.oneof and f is not field)
    return [other.name for other in others] if field.oneof else []


def _alternative(name, others):
    return {
        "if": {"required": [name]},
        "then": {
            "properties": {other: False for other in others},
            "errorMessage": f"Does not go together with {name}; give one of them.",
        },
    }


class _Conditions:
    """Conditions on a message; proto/rules.proto has their grammar."""

    def __init__(self, message):
        self._fields = {field.name: field for field in message.fields}
        self._oneofs = message.oneofs
        self._twins = {}
        for field in message.fields:
            if field.rules.text_of:
                self._twins[field.name] = field.rules.text_of
                self._twins[field.rules.text_of] = field.name

    def all_of(self, when):
        return _joined("allOf", map(self._any_of, when))

    def _any_of(self, alternatives):
        return _joined("anyOf", map(self._one, alternatives.split("|")))

    def _one(self, condition):
        name, _, values = condition.removeprefix("!").partition("=")
        if values:
            holds = self._has_value(self._fields[name], values.split(","))
        elif name in self._oneofs:
            members = [f for f in self._fields.values() if f.oneof == name]
            holds = _joined("anyOf", ({"required": [f.name]} for f in members))
        else:
            holds = _joined("anyOf", map(self._is_given, self._with_twin(name)))
        return {"not": holds} if condition.startswith("!") else holds

    def _with_twin(self, name):
        return [name, *filter(None, [self._twins.get(name)])]

    def _is_given(self, name):
        field = self._fields[name]
        if field.is_repeated and not field.is_map:
            return {"required": [name], "properties": {name: {"minItems": 1}}}
        is_quantity = field.rules.text_of
        if field.kind == _TEXT and not (field.message or field.oneof or is_quantity):
            return {"required": [name], "properties": {name: {"not": {"const": ""}}}}
        return {"required": [name]}

    def _has_value(self, field, values):
        of_kind = [_value(field, value) for value in values]
        default = str(field.default)
        if field.kind == _BOOL:
            default = default.lower()
        holds = {"properties": {field.name: {"enum": of_kind}}}
        if default not in values:
            holds["required"] = [field.name]
        elif field.rules.empty_is_default:
            of_kind.append("")
        return holds

    def failing(self, at, when):
        """What no message is for which the conditions hold."""
        if not at:
            return {"type": "null"}
        if f"!{at}" in when:
            return {"required": [at]}
        names = self._with_twin(at)
        result = {"properties": {name: False for name in names}}
        if len(names) == 1:
            result["required"] = names
        return result


def _value(field, value):
    if field.enum or field.kind == _TEXT:
        return value
    return value == "true" if field.kind == _BOOL else int(value)


def _joined(keyword, parts):
    parts = list(parts)
    return parts[0] if len(parts) == 1 else {keyword: parts}
