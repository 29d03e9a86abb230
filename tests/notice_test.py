# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""NOTICE lists what the programs are linked to, with its licences."""

import unittest

from scripts import notice
from tests import products
from tests import programs
from tests import testing_main


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class NoticeTest(unittest.TestCase):
    def test_programs_are_linked_as_notice_says(self):
        if programs.SANITIZED:
            self.skipTest("sanitizers have libraries of their own")
        products.require_all(self)
        self.assertEqual(
            notice.problems_of_programs(
                notice.read(read(notice.NOTICE)),
                [programs.DISTBENCH, programs.TEST_BUILDER],
                notice.libraries_of_build(read(notice.LIBRARIES)).optional,
            ),
            [],
        )


if __name__ == "__main__":
    testing_main.main()
