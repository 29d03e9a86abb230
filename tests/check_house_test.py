# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The rules of the house, on a made-up one."""

import unittest

from scripts import house
from tests import testing_main

DOCUMENT = """# Architecture

| folder | a table of another section | base |

## Two storeys

| room | what it contains | uses |
|---|---|---|
| `base/` | clocks | – |
| `report/` | formats | base |
| `cli/` | commands | base, report |
| `products/search/` | the load search | base, cli, products/simulation |
| `products/simulation/` | `simulate` | base, cli |

## Decisions

| `base/` | not a row | – |
"""
ROOMS = house.read_table(DOCUMENT)
ALLOWED = [
    house.Arrow(*pair)
    for pair in [
        ("//distbench/report/json:json", "//distbench/base:files"),
        ("//distbench/cli:commands", "//distbench/report/json:json"),
        ("//distbench/cli:commands", "//distbench/base:files"),
        ("//distbench/cli:distbench", "//distbench/products:products"),
        ("//distbench/products:products", "//distbench/products/search:plugin"),
        ("//distbench/products/search:plugin", "//distbench/cli:commands"),
        ("//distbench/products/search:plugin", "//distbench/base:files"),
        ("//distbench/products/search:s", "//distbench/products/simulation:s"),
        ("//distbench/products/simulation:s", "//distbench/cli:commands"),
        ("//distbench/products/simulation:s", "//distbench/base:files"),
        ("//distbench/products/simulation:s", "//proto:simulation"),
        ("//distbench/products/simulation/net:t", "//distbench/products/simulation:s"),
        ("//tests:report_test", "//distbench/cli:distbench"),
        ("//distbench/base:version", "//:VERSION"),
    ]
]


def problems(*more, rooms=None, existing=None):
    rooms = ROOMS if rooms is None else rooms
    arrows = ALLOWED + [house.Arrow(*pair) for pair in more]
    return house.House(rooms, arrows).problems(existing or rooms)


class TableTest(unittest.TestCase):
    def test_rows_say_which_rooms_one_uses(self):
        self.assertEqual(
            [(room.name, sorted(room.uses)) for room in ROOMS.values()],
            [
                ("base", []),
                ("report", ["base"]),
                ("cli", ["base", "report"]),
                ("products/search", ["base", "cli", "products/simulation"]),
                ("products/simulation", ["base", "cli"]),
            ],
        )

    def test_unreadable_tables_are_refused(self):
        for broken, message in [
            ("nothing", "no section"),
            (DOCUMENT.replace("`report/`", "`base/`"), "base has two rows"),
            (DOCUMENT.replace("| base |", "| bass |"), "report uses bass"),
            (DOCUMENT.replace("| clocks |", "| clocks |x|"), "not a row"),
        ]:
            with self.assertRaisesRegex(house.BadTable, message):
                house.read_table(broken)


class RoomTest(unittest.TestCase):
    def test_labels_and_paths_are_in_rooms(self):
        for place, room in [
            ("//distbench/base:files", "base"),
            ("//distbench/report/json:json", "report"),
            ("distbench/report/json/json.cc", "report"),
            ("//test_builder:app", "test_builder"),
            ("test_builder/run/run.h", "test_builder"),
            ("//distbench/products/search:plugin", "products/search"),
            ("distbench/products/search/knobs/knob.h", "products/search"),
            ("//distbench/products:products", "products"),
            ("distbench/products/BUILD", "products"),
            ("//proto:results", None),
            ("//:VERSION", None),
            ("@system//:absl", None),
            ("distbench/BUILD", None),
        ]:
            self.assertEqual(house.room_of(place), room, place)


class ArrowsTest(unittest.TestCase):
    def test_the_query_lists_what_targets_use(self):
        xml = (
            '<query><rule class="cc_library" name="//distbench/a:a">'
            '<label name="name" value="a"/>'
            '<rule-input name="//distbench/b:b"/>'
            '<rule-input name="//distbench/a:a.cc"/></rule>'
            '<source-file name="//distbench/a:a.cc"/></query>'
        )
        self.assertEqual(
            house.arrows_of_query(xml),
            [
                ("//distbench/a:a", "//distbench/b:b"),
                ("//distbench/a:a", "//distbench/a:a.cc"),
            ],
        )

    def test_files_include_what_they_use(self):
        text = (
            '#include "distbench/a/a.h"\n\n#include <string>\n\n'
            '#include "absl/time/time.h"\n#include "test_builder/app.h"\n'
            '// #include "distbench/b/b.h"\n'
        )
        self.assertEqual(
            house.arrows_of_file("distbench/a/a.cc", text),
            [
                ("distbench/a/a.cc", "distbench/a/a.h"),
                ("distbench/a/a.cc", "test_builder/app.h"),
            ],
        )


class RulesTest(unittest.TestCase):
    def only_problem(self, *more, **options):
        found = problems(*more, **options)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_a_house_like_its_table_has_no_problem(self):
        self.assertEqual(problems(), [])

    def test_the_core_uses_no_product(self):
        for source, target in [
            ("//distbench/report:report", "//distbench/products/search:search"),
            ("//distbench/report:report_test", "//distbench/products/search:search"),
            ("//distbench/report:report", "//distbench/products:products"),
            ("//distbench/cli:commands", "//distbench/products:products"),
            ("distbench/report/a.cc", "distbench/products/search/search.h"),
        ]:
            problem = problems((source, target))[0]
            self.assertIn(f"{source} uses {target}", problem)
            self.assertIn("base::Plugins", problem)

    def test_products_use_each_other_as_the_table_says(self):
        product = "//distbench/products/simulation:x"
        problem, circle = problems((product, "//distbench/products/search:search"))
        self.assertIn(f"{product} uses", problem)
        self.assertIn("may not use the product products/search", problem)
        self.assertIn("in a circle", circle)

    def test_rooms_use_each_other_as_the_table_says(self):
        lower = DOCUMENT.replace("| base, report |", "| report |")
        problem = self.only_problem(rooms=house.read_table(lower))
        self.assertIn("//distbench/cli:commands uses //distbench/base:files", problem)
        self.assertIn("add base to the row of cli", problem)

    def test_the_table_allows_nothing_that_is_not_used(self):
        more = DOCUMENT.replace("`simulate` | base, cli", "`simulate` | base, cli, report")
        problem = self.only_problem(rooms=house.read_table(more))
        self.assertIn("products/simulation may use report", problem)

    def test_every_room_has_a_row(self):
        problem = self.only_problem(existing=[*ROOMS, "attic"])
        self.assertIn("the room attic has no row", problem)

    def test_every_row_has_a_room(self):
        problem = self.only_problem(existing=set(ROOMS) - {"report"})
        self.assertIn("the room report of the table", problem)

    def test_rooms_do_not_use_each_other_in_a_circle(self):
        upward = DOCUMENT.replace("| clocks | –", "| clocks | cli")
        problem = self.only_problem(
            ("//distbench/base:clock", "//distbench/cli:commands"),
            rooms=house.read_table(upward),
        )
        self.assertIn("base -> cli -> base", problem)
        self.assertIn("//distbench/base:clock uses //distbench/cli:commands", problem)
        self.assertIn("//distbench/cli:commands uses //distbench/base:files", problem)

    def test_nothing_outside_of_a_product_breaks_with_it(self):
        problem = self.only_problem(
            ("//tests:search_test", "//distbench/products/search:search")
        )
        self.assertIn("//tests:search_test uses", problem)
        self.assertIn("move it to distbench/products/search/", problem)


class NamesTest(unittest.TestCase):
    PRODUCTS = ["products/search", "products/trace_import"]

    def names_in(self, text, path="distbench/report/a.cc"):
        return house.problems_of_names(path, text, self.PRODUCTS)

    def test_the_core_names_no_product(self):
        for text in [
            "// See distbench/products/search/knob.h.",
            "search::Knob knob;",
            "distbench::search::Knob knob;",
            "std::vector<search::Knob> knobs;",
            "namespace distbench::trace_import { class Span; }",
        ]:
            self.assertEqual(len(self.names_in(text)), 1, text)
        label = 'deps = ["//distbench/products/search"]'
        self.assertEqual(len(self.names_in(label, "distbench/report/BUILD")), 1)

    def test_other_names_may_be_alike(self):
        for text in [
            "// distbench/products/BUILD lists them.",
            "// Names such as search::Knob.",
            'Say("search::Knob");',
            "research::Knob knob;",
            "config::search::Knob knob;",
            "message.search();",
        ]:
            self.assertEqual(self.names_in(text), [], text)


class DeletionTest(unittest.TestCase):
    def test_the_list_of_products_loses_lines(self):
        text = (
            "deps = [\n"
            '    "//distbench/products/http2:plugin",\n'
            '    "//distbench/products/search:plugin",\n'
            '    "//distbench/products/search_more:plugin",\n'
            '] + if_available("f", ["//distbench/products/libfabric:plugin"])\n'
        )
        self.assertEqual(
            house.without_products(text, ["products/search", "products/libfabric"]),
            "deps = [\n"
            '    "//distbench/products/http2:plugin",\n'
            '    "//distbench/products/search_more:plugin",\n'
            '] + if_available("f", [])\n',
        )


class UsersTest(unittest.TestCase):
    def test_users_of_users_count(self):
        self.assertEqual(house.users_of(ROOMS, "products/search"), [])
        self.assertEqual(
            house.users_of(ROOMS, "products/simulation"), ["products/search"]
        )
        self.assertEqual(
            house.users_of(ROOMS, "report"),
            ["cli", "products/search", "products/simulation"],
        )


if __name__ == "__main__":
    testing_main.main()
