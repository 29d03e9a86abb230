# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Rules of the documents: links lead somewhere, and pages are of a size that people read.

A document is a Markdown file. A link within the repository must name a file or a folder
that exists, and a heading of it if it has a fragment. So must the mentions of docs/*.md
in sources, which are messages and comments.
"""

import collections
import os
import re

# Words as `wc -w` counts them.
WORDS_PER_PAGE = 4000
WORDS_IN_ALL = 60000

# References that scripts write: nobody reads them from top to bottom.
GENERATED = {"docs/command_reference.md", "docs/traffic_reference.md"}

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1", re.M | re.S)
# Code is indented after an empty line: what is indented below text continues it, such as
# the items of a list.
_INDENTED = re.compile(r"(?:^\n|\A)(?:(?: {4}|\t).*(?:\n|\Z))+", re.M)
_CODE = re.compile(r"`+[^`]*`+")
# Only the end of a link's text, which may be a picture, itself a link. A title may follow.
_LINK = re.compile(r"\]\(([^)\s]+)|^\[[^\]]+\]: (\S+)", re.M)
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.M)
_MENTION = re.compile(r"\bdocs/[\w/]+\.md(?:#[a-z0-9_-]+)?")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)

Problem = collections.namedtuple("Problem", ["path", "text"])


def without_code(text):
    """Returns the prose of a document: what is code has neither headings nor links."""
    return _INDENTED.sub("", _FENCE.sub("", text))


def anchor(heading):
    """Returns the fragment by which GitHub and others link to a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(text):
    """Returns all fragments of a document; equal headings are numbered from the second."""
    seen = collections.Counter()
    found = set()
    for heading in _HEADING.findall(without_code(text)):
        name = anchor(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def links(text):
    """Returns the targets of a document's links, in order."""
    prose = _CODE.sub("`", without_code(text))
    return [inline or reference for inline, reference in _LINK.findall(prose)]


class Documents:
    """All documents of a repository.

    texts: the documents by path; exists: whether a path is a file or a folder.
    """

    def __init__(self, texts, exists):
        self._texts = texts
        self._exists = exists
        self._anchors = {path: anchors(text) for path, text in texts.items()}

    def _target_problem(self, path, fragment):
        if not self._exists(path):
            return f"there is no {path}"
        if fragment and path in self._anchors and fragment not in self._anchors[path]:
            return f"{path} has no heading for #{fragment}"
        return None

    def link_problems(self):
        for path, text in self._texts.items():
            for link in links(text):
                if _SCHEME.match(link):
                    continue
                file, _, fragment = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(path), file))
                problem = self._target_problem(target if file else path, fragment)
                if problem:
                    yield Problem(path, f"the link to {link} is broken: {problem}")

    def mention_problems(self, sources):
        """sources: (path, text) of files that are no documents."""
        for path, text in sources:
            for mention in sorted(set(_MENTION.findall(text))):
                problem = self._target_problem(*mention.partition("#")[::2])
                if problem:
                    yield Problem(path, f"it mentions {mention}, but {problem}")

    def words(self):
        """Returns the words of each page that counts, by path."""
        return {
            path: len(text.split())
            for path, text in self._texts.items()
            if (path.startswith("docs/") or path == "README.md")
            and path not in GENERATED
        }

    def size_problems(self):
        words = self.words()
        for path, count in words.items():
            if count > WORDS_PER_PAGE:
                yield Problem(
                    path, f"{count} words; a page has at most {WORDS_PER_PAGE}: split it"
                )
        total = sum(words.values())
        if total > WORDS_IN_ALL:
            yield Problem(
                "docs/",
                f"{total} words in all; at most {WORDS_IN_ALL}: say things once, and leave"
                " to the references what they have",
            )
