# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""docs/command_reference.md is what scripts/generate_command_reference makes of what the
programs say of themselves, and docs/command_line.md names every command."""

import os
import re
import unittest
from unittest import mock

from scripts import command_reference
from scripts import documents
from tests import products
from tests import programs
from tests import testing_main

OVERVIEW = "docs/command_line.md"


def setUpModule():
    global MANUAL, PAGE
    MANUAL = command_reference.read_manual(programs.DISTBENCH)
    PAGE = command_reference.page(MANUAL)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def section_of(command):
    return re.search(rf"^##+ {command}$.*?(?=^##+ |\Z)", PAGE, re.M | re.S)[0]


class CommandReferenceTest(programs.ProgramTest):
    def test_page_is_fresh(self):
        products.require_all(self)
        # Not assertEqual, whose message would be the difference of two long pages.
        self.assertTrue(
            PAGE == read(command_reference.PAGE),
            f"{command_reference.PAGE} is not what the programs say now; run "
            f"{command_reference.COMMAND} and commit the page",
        )

    def test_every_flag_of_the_help_is_there(self):
        for command in command_reference.commands_of(MANUAL):
            text = self.distbench("help", *command.split()).out
            self.assert_flags(text, section_of(f"distbench {command}"))
        text = self.run_to_end(programs.TEST_BUILDER, "--help").out
        self.assert_flags(text, section_of("test_builder"))

    def assert_flags(self, help_text, section):
        heads = " ".join(re.findall(r"(?m)^  (-\S+)", help_text))
        self.assertEqual(
            set(re.findall(r"--\w+", heads)) - {"--help"},
            set(re.findall(r"`(--\w+)[=`]", flags_of(section))),
            section.partition("\n")[0],
        )

    def test_the_host_is_not_in_it(self):
        elsewhere = {
            "DISTBENCH_TEST_SEQUENCER": "elsewhere:1",
            "DISTBENCH_TLS_CA": "/elsewhere/ca.crt",
            "HOME": "/elsewhere",
            "LC_ALL": "C",
            "COLUMNS": "40",
        }
        cpus = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        os.sched_setaffinity(0, {min(cpus)})
        with mock.patch.dict(os.environ, elsewhere):
            manual = command_reference.read_manual(programs.DISTBENCH)
        self.assertTrue(command_reference.page(manual) == PAGE)

    def test_links_within_the_page_have_their_headings(self):
        anchors = re.findall(r"\]\(#([\w-]+)\)", PAGE)
        self.assertIn("distbench-runs-get", anchors)
        self.assertLessEqual(set(anchors), documents.anchors(PAGE))

    def test_columns_of_tables(self):
        for line in PAGE.splitlines():
            if line.startswith("|"):
                self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 4, line)

    def test_texts_with_something_special(self):
        for text, expected in [
            ("default of --table=rpcs, --slo.", "default of `--table=rpcs`, `--slo`."),
            ("See docs/products/search.md.", "See [search.md](products/search.md)."),
            ("peers' certificates (PEM)", "peers' certificates (PEM)"),
            ("such as 'query p99<=5ms'; * < [a]", r"such as `query p99<=5ms`; \* \< \[a\]"),
            ("at 200/s, A/A, ~/.config/a.", "at 200/s, A/A, `~/.config/a`."),
            ("(10.0.0.0/24:PORT)", "(`10.0.0.0/24:PORT`)"),
        ]:
            self.assertEqual(command_reference.markdown(text), expected)


class OverviewTest(unittest.TestCase):
    def test_every_command_is_in_the_overview(self):
        named = set(re.findall(r"command_reference\.md#([\w-]+)\)", read(OVERVIEW)))
        anchors = {
            f"distbench-{command.replace(' ', '-')}"
            for command in command_reference.commands_of(MANUAL)
        }
        self.assertEqual(anchors - named, set())


def flags_of(section):
    """The first column of the section's table of flags."""
    table = section.partition("\n| flag |")[2]
    return "\n".join(re.findall(r"(?m)^\| ([^|]*(?:\\\|[^|]*)*) \|", table))


if __name__ == "__main__":
    testing_main.main()
