# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of commands, flags and patterns, as a page in Markdown.

scripts/generate_command_reference writes it, from the manual pages that distbench makes
of itself and of test_builder (`distbench generate_shell_files`). These come from the
same table as the help, but have each flag, its value, its meaning and its default in a
place of their own. Only the requests that distbench/flags/man_page.cc writes are known.

Texts are plain, of which the page makes more: what is quoted, flags, settings and
snake_case become code; names of pages of docs/, links.
"""

import collections
import os
import re
import subprocess
import tempfile

from scripts import documents

PAGE = "docs/command_reference.md"
COMMAND = "scripts/generate_command_reference"

HEAD = """\
<!-- Made by scripts/generate_command_reference from what the programs say of
     themselves. Do not edit. -->

# Reference of commands and flags

Every command of `distbench` with its flags, and those of `test_builder` with its patterns
and protocols, as `distbench help COMMAND` and `test_builder help PATTERN` print them.
[command_line.md](command_line.md) says what is common to all commands, and
[shell.md](shell.md) where flags of the connection come from if they are left out.

A flag is written `--flag=VALUE` or `--flag VALUE`, and one without a value `--flag`. Every
command has `-h` and `--help`, too. Commands and flags of a product are missing in programs
that were built without it.

"""

# A flag or an argument. `lines` are its meaning: the first is prose, others stand alone,
# such as the choices of a format.
Item = collections.namedtuple("Item", ["name", "lines", "default", "is_required"])

# A paragraph that is filled, or one that keeps its line breaks.
Paragraph = collections.namedtuple("Paragraph", ["text", "is_verbatim"])

# The sections of a manual page by title, each a list of items or of paragraphs.
ITEMS = {"COMMANDS", "ARGUMENTS", "OPTIONS"}


def read_manual(distbench):
    """Returns the sections of each manual page, by the page's name."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([distbench, "generate_shell_files", folder], check=True)
        manual = {}
        for name in os.listdir(os.path.join(folder, "man")):
            with open(os.path.join(folder, "man", name), encoding="utf-8") as file:
                manual[name.removesuffix(".1")] = sections_of(file.read())
    return manual


def page(manual):
    commands = [*_commands(manual, "distbench"), "test_builder"]
    contents = "\n".join(_entry(manual, command) for command in commands)
    parts = [_section(manual, command) for command in commands]
    return HEAD + contents + "\n\n" + "\n\n".join(parts) + "\n"


def commands_of(manual):
    """Returns the commands of distbench, such as "runs get", without help."""
    return [each.partition(" ")[2] for each in _commands(manual, "distbench")][1:]


# ---- Manual pages -----------------------------------------------------------------

_ESCAPES = {"-": "-", "e": "\\", "&": "", "(aq": "'", "(ga": "`", "(ha": "^", "(ti": "~"}


def _plain(text):
    text = re.sub(r"\\f[BIR]", "", text)
    return re.sub(r"\\(\(..|.)", lambda match: _ESCAPES[match[1]], text)


def sections_of(text):
    """Returns the sections of a manual page by title."""
    sections = {}
    for section in text.split("\n.SH ")[1:]:
        title, _, body = section.partition("\n")
        parse = _items if title in ITEMS else _paragraphs
        sections[_plain(title)] = parse(body.rstrip("\n").split("\n"))
    return sections


def _items(lines):
    items = []
    for item in "\n".join(lines).split(".TP\n")[1:]:
        name, _, text = item.rstrip("\n").partition("\n")
        said = [" ".join(each.split("\n")) for each in text.split("\n.br\n")]
        said = [_plain(each) for each in said]
        default = next((s for s in said if s.startswith("Default: ")), "")
        required = "Required." in said
        rest = [each for each in said if each not in (default, "Required.")]
        items.append(Item(_plain(name), rest, default.removeprefix("Default: "), required))
    return items


def _paragraphs(lines):
    paragraphs = []
    for block in "\n".join(lines).split("\n.PP\n"):
        is_verbatim = block.startswith(".nf\n")
        block = block.removeprefix(".nf\n").removesuffix("\n.fi")
        block = re.sub(r"(?m)^\.(sp|br)$\n?", "", block)
        paragraphs.append(Paragraph(_plain(block), is_verbatim))
    return paragraphs


# ---- Markdown ---------------------------------------------------------------------

_MARKS = re.compile(
    r"(?P<done>`[^`]*`)"
    r"|(?<!\w)'(?P<quoted>[^'\s][^']*)'(?!\w)"
    r'|"(?P<word>[^"\s][^"]*)"'
    r"|\bdocs/(?P<link>[\w/]+\.md)"
    # Paths, ranges and rates, which have a dot or begin with the slash.
    r"|(?P<code>(?<![^\s(])(?=/|[^\s/]*\.|[^\s/]+/\S*\.\w)[^\s(),;]*/[^\s(),;]*[^\s(),;.:]"
    r"|(?<![\w-])--?[a-z]\w*(?:=[^\s,;)]*[^\s,;).:])?"
    r"|(?<![^\s(])[\w.:\[]+=[^\s,;)]*[^\s,;):](?<![^.]\.)"
    r"|\b(?:\w+\.)*[A-Za-z0-9]+_\w+(?:\.\w+)*\b)"
    r"|(?P<special>[*_<>\[\]\\])"
)


def markdown(text):
    return _MARKS.sub(_marked, text)


def _marked(match):
    if match["done"]:
        return match["done"]
    if match["link"]:
        return f"[{match['link'].rsplit('/', 1)[-1]}]({match['link']})"
    if match["special"]:
        return "\\" + match["special"]
    return f"`{match['quoted'] or match['word'] or match['code']}`"


def _cell(text):
    return text.replace("|", "\\|")


def _sentence(text):
    return text if text.endswith((".", ":", "?")) else text + "."


def _capital(text):
    # gRPC stays what it is.
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


_DEFAULT = re.compile(r"[;.] [Dd]efault: (.+?)(?:\.(?: (.*))?)?$")


def _apart(item):
    """Returns the meaning and the default of an item that says its default in words."""
    text, *rest = item.lines
    text = re.sub(r"(?<!\.)\.$", "", text)
    match = None if item.default else _DEFAULT.search(text)
    if not match:
        return [text, *rest], f"`{item.default}`" if item.default else ""
    after = f". {match[2]}" if match[2] else ""
    is_value = re.fullmatch(r"\d\S*", match[1])
    default = f"`{match[1]}`" if is_value else markdown(match[1])
    return [text[: match.start()] + after, *rest], default


def _choice(line):
    """A line of a list, such as "csv: one table"."""
    name, colon, meaning = line.partition(": ")
    if not colon or name == "Environment" or " " in name:
        return markdown(line)
    return f"`{name}`: {markdown(meaning)}"


def _row(item):
    (first, *choices), default = _apart(item)
    meaning = "<br>".join([markdown(first), *map(_choice, choices)])
    default = "required" if item.is_required else default
    names = ", ".join(f"`{name}`" for name in item.name.split(", "))
    return "| " + " | ".join(map(_cell, (names, meaning, default))) + " |"


def _table(head, items):
    rows = [_row(item) for item in items]
    return "\n".join([f"| {head} | meaning | default |", "|---|---|---|", *rows])


def _fence(text):
    return f"```text\n{text}\n```"


def _example(text):
    """A paragraph of a page's examples: a line that says so, and lines to type."""
    first, _, lines = text.partition("\n")
    if not lines:
        return markdown(text)
    return f"{markdown(first)}\n\n{_fence(re.sub('(?m)^  ', '', lines))}"


def _prose(paragraphs):
    return [
        _fence(each.text) if each.is_verbatim else _sentence(markdown(each.text))
        for each in paragraphs
    ]


# ---- Commands ---------------------------------------------------------------------


def _commands(manual, command):
    """Yields the command and those below it."""
    yield command
    for item in manual[command.replace(" ", "-")].get("COMMANDS", []):
        if item.name != "help":
            yield from _commands(manual, f"{command} {item.name}")


def _summary(sections):
    return sections["NAME"][0].text.partition(" - ")[2]


def _entry(manual, command):
    depth = max(command.count(" ") - 1, 0)
    sections = manual[command.replace(" ", "-")]
    entry = f"{'  ' * depth}- {_link(command)}: {markdown(_summary(sections))}"
    lists = [
        f"  - {_link(title.capitalize())}: {', '.join(map(_link, _names(sections[title])))}"
        for title, part in _PARTS.items()
        if part is _topics and title in sections
    ]
    return "\n".join([entry, *lists])


def _link(heading):
    return f"[{heading}](#{documents.anchor(heading)})"


def _section(manual, command):
    sections = manual[command.replace(" ", "-")]
    heading = "#" * max(command.count(" ") + 1, 2)
    parts = [f"{heading} {command}"]
    # The conventions of the connection are those of all commands: shell.md has them.
    connection = {each.text for each in sections.get("ENVIRONMENT AND FILES", [])}
    paragraphs = [each for each in sections["DESCRIPTION"] if each.text not in connection]
    first, *others = _prose(paragraphs)
    parts += [first, _fence(sections["SYNOPSIS"][0].text), *others]
    for head, title in (("argument", "ARGUMENTS"), ("flag", "OPTIONS")):
        items = [each for each in sections.get(title, []) if each.name != "-h, --help"]
        if items:
            parts.append(_table(head, items))
    parts += [
        part
        for title, part_of in _PARTS.items()
        if title in sections
        for part in part_of(title, sections[title])
    ]
    parts += [
        _example(each.text) if each.is_verbatim else markdown(each.text)
        for each in sections.get("EXAMPLES", [])
    ]
    return "\n\n".join(parts)


# ---- test_builder -----------------------------------------------------------------


def _title(title):
    return f"### {title.capitalize()}"


def _as_is(title, paragraphs):
    return [_title(title), *_prose(paragraphs)]


def _parameters(text):
    """The table of lines such as "  qps=100" with their meanings on indented lines."""
    items = []
    for line in text.split("\n")[1:]:
        if line.startswith("      "):
            items[-1].lines[0] = f"{items[-1].lines[0]} {line.strip()}".strip()
        else:
            name, _, default = line.strip().partition("=")
            items.append(Item(name, [""], default, False))
    return _table("parameter", items)


def _parameters_of_all(title, paragraphs):
    return [_title(title), *(_parameters(each.text) for each in paragraphs)]


def _names(topics):
    return [each.text.partition(": ")[0] for each in topics if not each.is_verbatim]


def _topics(title, paragraphs):
    """Patterns or protocols: each has a line "NAME: SUMMARY", perhaps a description, and
    perhaps a list of parameters."""
    parts = [_title(title)]
    for each in paragraphs:
        if not each.is_verbatim:
            name, _, summary = each.text.partition(": ")
            parts += [f"#### {name}", _sentence(_capital(markdown(summary)))]
        elif each.text.startswith("Parameters of "):
            parts.append(_parameters(each.text))
        else:
            parts.append(markdown(re.sub("(?m)^  ", "", each.text)))
    return parts


_PARTS = {
    "CONFIGURATIONS": _as_is,
    "PARAMETERS OF EVERY TEST": _parameters_of_all,
    "PATTERNS": _topics,
    "PROTOCOLS": _topics,
    "LIBRARY": _as_is,
}
