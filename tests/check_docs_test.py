# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The rules of the documents, on made-up ones."""

import unittest

from scripts import documents
from tests import testing_main

PAGE = """# A page

See [the other](b.md), [a part](b.md#how-it-works-1), [here](#two-words),
[the web](https://example.com/none#x), and [a folder](../src).
`[code](none.md)` is no link.

    [indented](none.md)

```
# no heading
[fenced](none.md)
```

## Two `words`

[by name]: b.md#how-it-works
"""
OTHER = "# How it works\n\n## How it works\n"
FILES = {"docs/a.md", "docs/b.md", "src", "README.md"}


def documents_of(texts):
    return documents.Documents(texts, FILES.__contains__)


def link_problems(text):
    pages = documents_of({"docs/a.md": text, "docs/b.md": OTHER})
    return [problem.text for problem in pages.link_problems()]


class LinksTest(unittest.TestCase):
    def test_good_links(self):
        self.assertEqual(link_problems(PAGE), [])

    def test_files_and_headings_must_exist(self):
        for link, problem in [
            ("c.md", "there is no docs/c.md"),
            ("../b.md", "there is no b.md"),
            ("b.md#why", "docs/b.md has no heading for #why"),
            ("b.md#how-it-works-2", "docs/b.md has no heading for #how-it-works-2"),
            ("#why", "docs/a.md has no heading for #why"),
        ]:
            for text in (f"[x]({link})", f"[x]: {link}"):
                self.assertEqual(
                    link_problems(text), [f"the link to {link} is broken: {problem}"]
                )

    def test_links_in_lists_pictures_and_with_titles(self):
        for text in (
            "10. An item\n    [x](c.md) that goes on.\n",
            "[![a picture](b.md)](c.md)",
            '[x](c.md "a title")',
        ):
            self.assertEqual(
                link_problems(text),
                ["the link to c.md is broken: there is no docs/c.md"],
            )

    def test_what_is_code_is_no_heading(self):
        self.assertEqual(
            documents.anchors("```\n# a\n```\n    # b\n# c d, e-f: `g_h`!\n"),
            {"c-d-e-f-g_h"},
        )

    def test_mentions_in_sources(self):
        pages = documents_of({"docs/b.md": OTHER})
        sources = [
            ("good.cc", "see docs/b.md, and docs/b.md#how-it-works."),
            ("bad.cc", "see docs/c.md\nand docs/b.md#why"),
        ]
        self.assertEqual(
            [tuple(problem) for problem in pages.mention_problems(sources)],
            [
                ("bad.cc", "it mentions docs/b.md#why, but docs/b.md has no heading"
                 " for #why"),
                ("bad.cc", "it mentions docs/c.md, but there is no docs/c.md"),
            ],
        )


class SizesTest(unittest.TestCase):
    def problems_of(self, texts):
        return [problem.path for problem in documents_of(texts).size_problems()]

    def test_a_page_has_a_limit(self):
        most = "word " * documents.WORDS_PER_PAGE
        self.assertEqual(self.problems_of({"docs/a.md": most}), [])
        self.assertEqual(self.problems_of({"docs/a.md": most + "more"}), ["docs/a.md"])

    def test_all_pages_have_a_limit(self):
        page = "word " * documents.WORDS_PER_PAGE
        count = documents.WORDS_IN_ALL // documents.WORDS_PER_PAGE
        texts = {f"docs/{number}.md": page for number in range(count)}
        self.assertEqual(self.problems_of(texts), [])
        self.assertEqual(self.problems_of(texts | {"README.md": "more"}), ["docs/"])

    def test_references_and_notes_beside_the_source_do_not_count(self):
        long = "word " * (documents.WORDS_IN_ALL + 1)
        texts = {path: long for path in documents.GENERATED}
        self.assertEqual(self.problems_of(texts | {"bench/notes.md": long}), [])


if __name__ == "__main__":
    testing_main.main()
