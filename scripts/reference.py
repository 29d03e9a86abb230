# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of the traffic language, as a page in Markdown.

scripts/generate_reference writes it, from what protoc knows about the files of proto/:
comments, types, and the options of rules.proto and catalogs.proto. What a field means
is said in its comment only, and what it may be, in its options; this puts both into
words.

Comments are plain text, of which the page makes more:
- What is quoted, and snake_case, become code; names of messages and of pages of
  docs/, links.
- Fields without a comment that follow on the lines below a field share its row.
- The first paragraph of a field's comment is in the table; the others are below it.
  Lines that begin with "- " are a list.
"""

import collections
import re

from scripts import reference_protos
from scripts import reference_words

PAGE = "docs/traffic_reference.md"
COMMAND = "scripts/generate_reference"
ROOT = "TestSequence"
TEST = "DistributedSystemDescription"

HEAD = """\
<!-- Made by scripts/generate_reference from the files of proto/. Do not edit. -->

# Reference of the traffic language

Each message of the language with its fields, what they may be, and what they mean.
[traffic_config.md](traffic_config.md) explains the language by example.

{introduction}

In the tables, a field is in the same row as the fields for which the same holds. Of a
quantity, the field with the text comes first, and the one with the number below it. A
field of a product is refused by a program that was built without it.

{contents}
"""

ACTIVITIES = """\
## Activities

An [ActivityConfig](#activityconfig) names one of these activities as `activity_func`, a
text; its other settings are the activity's. Numbers are given as `int64_value`, texts as
`string_value`. Each activity counts `iteration_count` in the result, beside the metrics
that are listed with it. Amounts are absolute and do not depend on the number of cores of
a host. [protection.md](products/protection.md#antagonists) describes the activities that
are antagonists.
"""

DRIVERS = """\
## Drivers

[ProtocolDriverOptions](#protocoldriveroptions) name one of these drivers as
`protocol_name`; `client_settings` and `server_settings` are settings of its sides, and
`channel_settings` those of a [MultiServerChannel](#multiserverchannel).
[drivers.md](drivers.md) describes the drivers.
"""


class Undocumented(Exception):
    """Fields and messages without a comment."""


def page(protos):
    language = _Language(protos)
    missing = language.undocumented()
    if missing:
        raise Undocumented(f"{', '.join(missing)}: no comment says what this is; add one")
    sections = [language.section(message) for message in language.messages]
    return "\n".join(
        [
            HEAD.format(
                introduction=language.introduction(), contents=language.contents()
            ),
            *sections,
            _activities(protos),
            _drivers(protos),
        ]
    )


# ---- The messages of the language ---------------------------------------------


class _Language:
    """The messages that a TestSequence can have, as fields lead to them."""

    def __init__(self, protos):
        self._protos = protos
        self.messages = []
        self._depths = {}
        # Message -> user -> fields.
        self._uses = collections.defaultdict(lambda: collections.defaultdict(list))
        self._visit(protos.message(ROOT), 0)
        self._prose = reference_words.Prose({m.name for m in self.messages})

    def _visit(self, message, depth):
        self.messages.append(message)
        self._depths[message.name] = depth
        for field in message.fields:
            if field.message:
                self._uses[field.message][message.name].append(field.name)
                if field.message not in self._depths:
                    self._visit(self._protos.message(field.message), depth + 1)

    def undocumented(self):
        """Names of messages and fields without comments, those in a row as one."""
        missing = [message.name for message in self.messages if not message.comment]
        for message in self.messages:
            for row in rows_of(message):
                if not any(field.comment for field in row):
                    missing.append(f"{message.name}.{row[0].name}")
        return missing

    def introduction(self):
        # After the first paragraph, which is for readers of the file.
        return self._prose.markdown(self._protos.introduction.split("\n\n", 1)[1])

    def contents(self):
        entries = [
            "  " * self._depths[m.name] + f"- [{m.name}](#{m.name.lower()})"
            for m in self.messages
        ]
        activities = [a.name for a in self._protos.activities if not a.product]
        activities += self._words_of_products(str.isupper)
        drivers = [d.options.name for d in self._protos.drivers if not d.product]
        drivers += self._words_of_products(str.islower)
        entries.append(f"- [Activities](#activities): {_links(activities)}")
        entries.append(f"- [Drivers](#drivers): {_links(drivers)}")
        return "\n".join(entries)

    def _words_of_products(self, is_of_kind):
        words = [word for word, _ in self._protos.product_words]
        return [word for word in words if is_of_kind(word[0])]

    def section(self, message):
        parts = [
            f"## {message.name}\n",
            self._prose.markdown(message.comment) + "\n",
            self._uses_of(message),
            self._table(message),
        ]
        return "\n".join(filter(None, parts))

    def _uses_of(self, message):
        uses = [
            f"{reference_words.names(fields, 'and')} of [{user}](#{user.lower()})"
            for user, fields in self._uses[message.name].items()
            if user != message.name
        ]
        return f"Used as {reference_words.listed(uses, 'and')}.\n" if uses else ""

    def _table(self, message):
        lines = ["| field | type | values | meaning |", "|---|---|---|---|"]
        notes = []
        choice = None
        for row in rows_of(message):
            if row[0].oneof != choice:
                choice = row[0].oneof
                if choice:
                    lines.append(self._row_of_choice(message, choice))
            comment, *more = self._comment_of(message, row)
            lines.append(
                f"| {_names(row)} | {_said_of(row, self._type, '<br>')} "
                f"| {_said_of(row, reference_words.values, '; ')} "
                f"| {reference_words.cell(comment)} |"
            )
            if more:
                colon = ":\n\n" if more[0].startswith("- ") else ": "
                notes.append(_names(row, ", ") + colon + "\n\n".join(more) + "\n")
        lines.append("")
        notes += [self._values_of(field) for field in message.fields if field.enum]
        notes += self._conflicts(message)
        return "\n".join(lines + notes)

    def _row_of_choice(self, message, choice):
        comment = self._prose.markdown(message.oneofs[choice])
        count = sum(field.oneof == choice for field in message.fields)
        return f"| *one of the next {count}* | | | {reference_words.cell(comment)} |"

    def _comment_of(self, message, row):
        fields = sorted(row, key=lambda field: bool(field.rules.text_of))
        comments = [field.comment for field in fields if field.comment]
        first = [comment.split("\n\n")[0] for comment in comments]
        rest = [part for comment in comments for part in comment.split("\n\n")[1:]]
        products = {field.product for field in row if field.product}
        first += [f'Of the product "{product}".' for product in sorted(products)]
        first += dict.fromkeys(filter(None, map(reference_words.history, row)))
        return [
            self._prose.markdown("\n".join(first)),
            *map(self._prose.markdown, rest),
        ]

    def _type(self, field):
        if field.message:
            name = f"[{field.message}](#{field.message.lower()})"
        else:
            name = reference_words.type_name(field)
        if field.is_map:
            return f"map from text to {name}"
        if not field.is_repeated:
            return name
        return f"list of {name}" if field.message else f"{name}s"

    def _values_of(self, field):
        lines = [f"Values of `{field.name}`:\n"]
        for name, comment in field.enum:
            text = self._prose.markdown(comment).replace("\n", " ")
            said = f": {text}" if text else ""
            lines.append(f"- `{name}`{said}")
        return "\n".join(lines) + "\n"

    def _conflicts(self, message):
        if not message.conflicts:
            return []
        lines = ["What is refused, with the words of the error:\n"]
        lines += [
            f"- If {reference_words.conditions(conflict.when)}: "
            f"{reference_words.names(conflict.at, 'or') or 'the message'} "
            f"{self._prose.markdown(conflict.problem)}."
            for conflict in message.conflicts
        ]
        return ["\n".join(lines) + "\n"]


def _links(names):
    return ", ".join(f"[{name}](#{name.lower()})" for name in names)


def rows_of(message):
    """The fields of a row each: a quantity's text is with its number, and fields below
    a field share its comment."""
    texts = {f.rules.text_of: f for f in message.fields if f.rules.text_of}
    rows = []
    for field in message.fields:
        if field.rules.text_of:
            continue
        pair = [texts[field.name], field] if field.name in texts else [field]
        owner = field if field.comment else pair[0]
        shares = not owner.comment and field.follows
        shares = shares and (field.oneof is None or rows[-1][0].oneof == field.oneof)
        if rows and shares:
            rows[-1] += pair
        else:
            rows.append(pair)
    return rows


def _names(row, separator="<br>"):
    return separator.join(f"`{field.name}`" for field in row)


def _said_of(row, words, separator):
    """What holds for the fields of a row, said once if it holds for all of them. The
    two fields of a quantity count as one, of which all holds."""
    quantities = []
    for field in row:
        if quantities and quantities[-1][-1].rules.text_of == field.name:
            quantities[-1].append(field)
        else:
            quantities.append([field])
    said = [
        (fields[0].name, separator.join(filter(None, dict.fromkeys(map(words, fields)))))
        for fields in quantities
    ]
    if len({text for _, text in said}) == 1:
        return said[0][1]
    return "<br>".join(f"`{name}`: {text}" for name, text in said if text)


# ---- The catalogues -------------------------------------------------------------


# Without links to messages, which are not meant here.
_PROSE = reference_words.Prose(())


def _settings_table(settings):
    lines = ["| setting | type | values | meaning |", "|---|---|---|---|"]
    for field in settings:
        about = " ".join([field.setting.about, reference_words.history(field)])
        about = _PROSE.markdown(about.rstrip())
        lines.append(
            f"| `{field.name}` | {reference_words.type_name(field)} "
            f"| {reference_words.setting_values(field)} "
            f"| {reference_words.cell(about)} |"
        )
    return "\n".join(lines) + "\n"


def _activities(protos):
    parts = [ACTIVITIES]
    for activity in protos.activities:
        said = [_PROSE.markdown(activity.options.about)]
        if activity.options.waits:
            said.append("It takes a slot of its pool, and no thread.")
        if activity.options.metrics:
            metrics = reference_words.names(activity.options.metrics, "and")
            said.append(f"Counts {metrics}.")
        section = [f"### {activity.name}\n\n{' '.join(said)}\n"]
        if activity.comment:
            section.append(_PROSE.markdown(activity.comment) + "\n")
        section.append(_settings_table(activity.settings))
        parts += _of_product(activity.product, section)
    return "\n".join(parts)


def _drivers(protos):
    parts = [DRIVERS]
    for driver in protos.drivers:
        section = [
            f"### {driver.options.name}\n\n{_PROSE.markdown(driver.options.about)} "
            f"{reference_words.abilities(driver.options)}\n"
        ]
        sides = {} if driver.options.alias_of else driver.sides
        for side, (settings, passed) in sides.items():
            if settings:
                section.append(f"Settings of the {side}:\n")
                section.append(_settings_table(settings))
            if passed:
                section.append(
                    f"Settings of the {side} whose names begin with `{passed}` are "
                    "passed through.\n"
                )
        parts += _of_product(driver.product, section)
    return "\n".join(parts)


def _of_product(product, section):
    """The section, with marks by which without() finds it."""
    if not product:
        return section
    heading, *rest = section
    return [
        f"<!-- Of the product {product}: -->\n{heading}",
        f"Of the product `{product}`.\n",
        *rest,
        f"<!-- End of the product {product}. -->\n",
    ]


def without(page, products):
    """The page without what only these products have."""
    for product in products:
        page = re.sub(
            f"\n<!-- Of the product {product}: -->\n.*?"
            f"\n<!-- End of the product {product}. -->\n",
            "",
            page,
            flags=re.DOTALL,
        )
    return page


def messages_of(protos):
    """The messages of the language, in the order of the page."""
    return _Language(protos).messages
