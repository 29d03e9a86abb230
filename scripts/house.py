# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The rooms of the house, what each may use, and what breaks these rules.

A room is a top folder of distbench/, a product of distbench/products/, or
test_builder/. The table "Two storeys" of docs/architecture.md has a row for each,
the core's from the ground up, then the products'; its last column names all rooms
that this one uses. scripts/check_house holds the code against that table.

Nothing here runs a program: arrows come in, problems come out.
"""

import collections
import re
import xml.etree.ElementTree as ElementTree

TABLE = "docs/architecture.md"
HEADING = "## Two storeys"
PRODUCTS = "products/"

# Where the core meets the products: the programs link their list.
PROGRAMS = ("//distbench/cli:distbench", "//test_builder:test_builder_main")
PRODUCT_LIST = "//distbench/products:products"

# What the table says of a room; `uses` is a set of names of rooms.
Room = collections.namedtuple("Room", "name contents uses")

# One target uses another, or one file includes another. Both are Bazel labels
# or paths.
Arrow = collections.namedtuple("Arrow", "source target")


class BadTable(Exception):
    """The table can not be read; the message says why."""


def read_table(document):
    """Returns the rooms of the document's table, by name, in its order."""
    _, found, rest = document.partition(f"\n{HEADING}\n")
    if not found:
        raise BadTable(f'there is no section "{HEADING}"')
    section = rest.split("\n## ")[0]
    rooms = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`([^`]+)/`", cells[0])
        if not line.startswith("|") or not names:
            continue
        if len(cells) != 3 or len(names) != 1:
            raise BadTable(f"not a row of one room, its contents and uses: {line}")
        uses = frozenset(re.findall(r"[\w/]+", cells[2]))
        if names[0] in rooms:
            raise BadTable(f"{names[0]} has two rows")
        rooms[names[0]] = Room(names[0], cells[1], uses)
    for room in rooms.values():
        for unknown in sorted(room.uses - rooms.keys()):
            raise BadTable(f"{room.name} uses {unknown}, which has no row")
    return rooms


def is_product(room):
    return room is not None and room.startswith(PRODUCTS)


def room_of(place):
    """Returns the room of a label or path; None for what is outside of all.

    The list of products is "products", which belongs to no storey.
    """
    folders = re.split(r"[/:]", place.removeprefix("//"))
    if folders[0] == "test_builder":
        return folders[0]
    if folders[0] != "distbench" or len(folders) < 3:
        return None
    if folders[1] == "products":
        return "/".join(folders[1:3]) if len(folders) > 3 else "products"
    return folders[1]


def arrows_of_query(xml):
    """Returns the arrows of `bazel query --output=xml`, between all targets."""
    return [
        Arrow(rule.get("name"), target.get("name"))
        for rule in ElementTree.fromstring(xml).iter("rule")
        for target in rule.iter("rule-input")
    ]


def arrows_of_file(path, text):
    """Returns the arrows of a C++ file of the repository, from its includes."""
    return [
        Arrow(path, header)
        for header in re.findall(
            r'^#include "((?:distbench|test_builder)/[^"]+)"', text, re.MULTILINE
        )
    ]


def problems_of_names(path, text, products):
    """Returns what is wrong with a C++ or BUILD file of the core, which names no
    product: neither a path, in whichever comment, nor a namespace."""
    names = "|".join(product.removeprefix(PRODUCTS) for product in products)
    found = re.findall(rf"\bdistbench/products/({names})\b", text)
    if not path.endswith("BUILD"):
        code = re.sub(r'//.*|"(?:[^"\\\n]|\\.)*"', "", text)
        found += re.findall(rf"(?<![\w:.])(?:distbench::)?({names})::", code)
        found += re.findall(rf"\bnamespace distbench::({names})\b", code)
    return [
        f"{path} names the product {name}: the core must not know it"
        for name in sorted(set(found))
    ]


class House:
    """The table and the arrows; problems() compares them."""

    def __init__(self, rooms, arrows):
        self.rooms = rooms
        # The first arrow between two rooms stands for all.
        self.between = {}
        self.from_outside = []
        for arrow in arrows:
            self._add(arrow)

    def _add(self, arrow):
        if arrow.source in PROGRAMS and arrow.target == PRODUCT_LIST:
            return
        source, target = room_of(arrow.source), room_of(arrow.target)
        if source is None and is_product(target):
            self.from_outside.append(arrow)
        elif None not in (source, target) and source not in (target, "products"):
            self.between.setdefault((source, target), arrow)

    def problems(self, existing):
        """Returns what is wrong, one text each.

        existing: the names of the rooms that the repository has.
        """
        result = self._problems_of_rows(existing)
        for (source, target), arrow in sorted(self.between.items()):
            result += self._problems_of_arrow(source, target, arrow)
        result += [
            f"{arrow.source} uses {arrow.target}: it breaks when that product is "
            f"deleted; move it to distbench/{room_of(arrow.target)}/"
            for arrow in self.from_outside
        ]
        return result + self._unused_permissions() + self._cycles()

    def _problems_of_rows(self, existing):
        missing = [
            f"the room {room} has no row in the table of docs/architecture.md; "
            "add one"
            for room in sorted(set(existing) - self.rooms.keys())
        ]
        gone = [
            f"the room {room} of the table of docs/architecture.md does not exist; "
            "delete its row"
            for room in sorted(self.rooms.keys() - set(existing))
        ]
        return missing + gone

    def _problems_of_arrow(self, source, target, arrow):
        told = f"{arrow.source} uses {arrow.target}: "
        if not is_product(source) and (is_product(target) or target == "products"):
            return [
                f"{told}the core ({source}) must not know a product; let it ask "
                "base::Plugins (distbench/base/plugins.h) for a part that the "
                "product adds, or move what needs the product into the product"
            ]
        if source not in self.rooms or target in self.rooms[source].uses:
            return []
        if is_product(source) and is_product(target):
            return [
                f"{told}{source} may not use the product {target}; move what both "
                "need into the core, or add it to the row of "
                f"{source} in docs/architecture.md: who deletes {target} then "
                "has to delete both"
            ]
        return [
            f"{told}{source} may not use {target}; move what it needs to a lower "
            f"room, or add {target} to the row of {source} in "
            "docs/architecture.md"
        ]

    def _unused_permissions(self):
        return [
            f"{room.name} may use {target} by the table of docs/architecture.md, "
            f"but does not; take it out of the row"
            for room in self.rooms.values()
            for target in sorted(room.uses)
            if (room.name, target) not in self.between
        ]

    def _cycles(self):
        """Returns a problem for each group of rooms that use each other."""
        uses = collections.defaultdict(set)
        for source, target in self.between:
            uses[source].add(target)
        problems = []
        for rooms in mutual_users(uses):
            cycle = shortest_cycle(uses, rooms)
            steps = [
                "{0.source} uses {0.target}".format(self.between[pair])
                for pair in zip(cycle, cycle[1:])
            ]
            problems.append(
                "rooms use each other in a circle, "
                f"{' -> '.join(cycle)} ({'; '.join(steps)}); move what two of them "
                "need into a room below both"
            )
        return problems


def mutual_users(uses):
    """Returns the groups of two or more that reach each other, each as a set."""
    reached = {start: _reachable(uses, start) for start in list(uses)}
    groups = {
        frozenset(
            other
            for other in reached[start]
            if start in reached.get(other, ())
        )
        for start in reached
        if start in reached[start]
    }
    return sorted(groups, key=sorted)


def _reachable(uses, start):
    """Returns what can be reached from it in one step or more."""
    reached, waiting = set(), list(uses.get(start, ()))
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached.add(place)
            waiting.extend(uses.get(place, ()))
    return reached


def shortest_cycle(uses, group):
    """Returns the rooms of a shortest cycle in the group; first and last are the
    same."""
    cycles = (_way(uses, start, start) for start in sorted(group))
    return min(cycles, key=len)


def _way(uses, start, end):
    """Returns a shortest way of at least one step, which there has to be."""
    ways = collections.deque([[start]])
    seen = set()
    while True:
        way = ways.popleft()
        for target in sorted(uses.get(way[-1], ())):
            if target == end:
                return way + [target]
            if target not in seen:
                seen.add(target)
                ways.append(way + [target])


def users_of(rooms, product):
    """Returns the rooms that the table says use the product, directly or not."""
    used_by = collections.defaultdict(set)
    for room in rooms.values():
        for target in room.uses:
            used_by[target].add(room.name)
    return sorted(_reachable(used_by, product))


def without_products(text, products):
    """Returns distbench/products/BUILD without the lines of these."""
    names = "|".join(product.removeprefix(PRODUCTS) for product in products)
    label = rf'"//distbench/products/(?:{names})[:/"][^"\n]*"?'
    text = re.sub(rf"^ *{label},\n", "", text, flags=re.MULTILINE)
    return re.sub(rf"{label},? ?", "", text)
