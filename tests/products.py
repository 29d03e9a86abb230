# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The products that this checkout lacks: scripts/delete_product deletes some in a copy,
and tests the rest."""

import re

from scripts import house

_LIST = "distbench/products/BUILD"


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def deleted():
    """Returns the names of those with a row in docs/architecture.md and no line in the
    list of what the program links."""
    named = {
        room.removeprefix(house.PRODUCTS)
        for room in house.read_table(_read(house.TABLE))
        if house.is_product(room)
    }
    linked = re.findall(r'^ *"//distbench/products/(\w+):plugin"', _read(_LIST), re.MULTILINE)
    return sorted(named - set(linked))


def require_all(test):
    """Skips a test of what all products together bring."""
    if deleted():
        test.skipTest(f"products are deleted here: {', '.join(deleted())}")
