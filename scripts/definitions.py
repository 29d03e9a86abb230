# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Finds types of C++ that several files define under one name.

The linker takes two classes of one name for the same, and so calls the functions of
one for objects of the other; neither it nor the compiler says a word. This reads
what files define in namespaces: classes, structs, unions and enumerations, with
their bodies. It leaves out what is local to a file (anonymous namespaces), to a
function or to a class.

It reads the language only as far as that needs: comments, literals and directives
are blanks, and the rest is braces with the words before them.
"""

import collections
import re

from scripts import house

_BLANKS = re.compile(
    r"""
      //(?:[^\\\n]|\\.|\\\n)*
    | /\*.*?\*/
    | \bu?8?R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"
    | "(?:[^"\\\n]|\\.)*"
    | \b(?P<number>\d[\w'.]*)
    | '(?:[^'\\\n]|\\.)+'
    | ^[ \t]*\#(?:[^\\\n]|\\.|\\\n)*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*(?P<name>[\w:]*)$")
_TYPE = re.compile(
    r"""
      (?:typedef\s+)?
      (?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+
      (?:\[\[.*?\]\]\s*|alignas\s*\([^)]*\)\s*|[A-Z][A-Z_]+\s+)*
      (?P<name>\w[\w:]*(?:\s*<.*>)?)
      (?:\s+final)?
      (?:\s*:[^:].*)?$
    """,
    re.VERBOSE | re.DOTALL,
)

# A block of functions, initialisers and the like: nothing in it is of interest.
_OTHER = None
# What is in an anonymous namespace is of its file.
_ANONYMOUS = "(anonymous)"


class Unreadable(Exception):
    """Braces do not match; perhaps one is within an #if."""


def types_defined_in(text):
    """Returns the qualified names of the types that a file's text defines."""
    code = _BLANKS.sub(lambda match: match["number"] or " ", text)
    found, open_blocks, start = set(), [], 0
    for mark in re.finditer(r"[{};]", code):
        if mark.group() == "{":
            head = code[start : mark.start()]
            open_blocks.append(_block(head, open_blocks, found))
        elif mark.group() == "}":
            if not open_blocks:
                raise Unreadable
            open_blocks.pop()
        start = mark.end()
    if open_blocks:
        raise Unreadable
    return found


def _block(head, outer, found):
    """Returns the part of names that a block adds, or _OTHER; adds to `found` if
    the block is the body of a type."""
    if _OTHER in outer:
        return _OTHER
    head = _without_template(" ".join(head.split()))
    namespace = _NAMESPACE.search(head)
    if namespace:
        return namespace["name"] or _ANONYMOUS
    if head == "extern":
        return ""
    defined = _TYPE.match(head)
    if defined and _ANONYMOUS not in outer:
        found.add("::".join(filter(None, outer + [defined["name"]])))
    return _OTHER


def _without_template(head):
    """Returns a declaration without `template <...>` before it."""
    while match := re.match(r"template\s*<", head):
        angles, parentheses, end = 1, 0, match.end()
        while angles and end < len(head):
            parentheses += {"(": 1, ")": -1}.get(head[end], 0)
            if parentheses == 0:
                angles += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[end:].lstrip()
    return head


def problems(texts):
    """Returns what is wrong with the files' types, one text each.

    texts: (path, text) of the files that are linked together.
    """
    files = collections.defaultdict(set)
    misplaced = []
    for path, text in texts:
        try:
            names = types_defined_in(text)
        except Unreadable as error:
            raise Unreadable(f"{path}: its braces do not match") from error
        for name in names:
            files[name].add(path)
        misplaced += _outside_of_namespace(path, names)
    return misplaced + [
        f"{name} is defined in {' and in '.join(sorted(paths))}; rename one, or "
        "move what only one file uses to an anonymous namespace"
        for name, paths in sorted(files.items())
        if len(paths) > 1
    ]


def _outside_of_namespace(path, names):
    """Returns the types of distbench that are not in the namespace of their room,
    which keeps them apart from those of other rooms."""
    room = house.room_of(path)
    if room is None:
        return []
    namespace = "distbench::" + room.removeprefix(house.PRODUCTS)
    return [
        f"{name} of {path} is not in {namespace}, the namespace of its room"
        for name in sorted(names)
        if name.startswith("distbench::") and not name.startswith(namespace + "::")
    ]
