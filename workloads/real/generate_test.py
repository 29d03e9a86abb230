# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that the library's files are those that its script makes."""

import os
import re
import unittest

from tests import testing_main
from workloads.real import generate


class GenerateTest(unittest.TestCase):
    def test_files_are_up_to_date(self):
        for path, content in generate.files():
            with open(os.path.join(generate.HERE, path), encoding="utf-8") as file:
                self.assertEqual(
                    file.read(), content, f"run workloads/real/generate.py: {path}"
                )

    def test_graphs_show_every_service(self):
        for path, content in generate.files():
            if not path.endswith("test.config"):
                continue
            with open(
                os.path.join(generate.HERE, os.path.dirname(path), "graph.svg"),
                encoding="utf-8",
            ) as file:
                drawn = re.findall(r">(\w+)(?: ×\d+)?</text>", file.read())
            services = re.findall(r'  services \{ name: "(\w+)"', content)
            self.assertCountEqual(drawn, services, path)


if __name__ == "__main__":
    testing_main.main()
