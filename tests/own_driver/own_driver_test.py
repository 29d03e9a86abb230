# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A program with a driver that is not distbench's."""

import os
import unittest

from tests import programs
from tests import testing_main


class OwnDriverTest(programs.ClusterTest):
    def test_tests_run_with_the_driver_that_is_linked(self):
        sequencer = self.start_sequencer()
        for _ in range(2):
            self.start_node(sequencer)
        outfile = self.path("own.out")
        outcome = self.run_tests(
            sequencer, os.environ["CONFIG"], f"--outfile={outfile}"
        )
        self.assertEqual(outcome.status, 0, outcome)
        with open(outfile, encoding="utf-8") as file:
            self.assertIn('default_protocol: "prefixed"', file.read())


if __name__ == "__main__":
    testing_main.main()
