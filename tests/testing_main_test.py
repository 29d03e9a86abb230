# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Each case of a test that Bazel divides runs in one of its shards."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from tests import testing_main

SHARDS = 2
MODULE = """
import unittest

from tests import testing_main


class SomeTest(unittest.TestCase):
    def test_a(self):
        pass

    def test_b(self):
        pass

    def test_c(self):
        pass


testing_main.main()
"""


class ShardTest(unittest.TestCase):
    def cases_of(self, environment):
        """Returns the names of the cases that run."""
        done = subprocess.run(
            [sys.executable, "-c", MODULE],
            capture_output=True,
            check=True,
            env={"PYTHONPATH": os.pathsep.join(sys.path), **environment},
            text=True,
        )
        return re.findall(r"^(test_\w) .* ok$", done.stderr, re.MULTILINE)

    def test_shards_divide_the_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            status = os.path.join(folder, "status")
            shards = [
                self.cases_of(
                    {
                        "TEST_TOTAL_SHARDS": str(SHARDS),
                        "TEST_SHARD_INDEX": str(index),
                        "TEST_SHARD_STATUS_FILE": status,
                    }
                )
                for index in range(SHARDS)
            ]
            # Bazel fails a test that does not write this.
            self.assertTrue(os.path.exists(status))
        self.assertEqual(shards, [["test_a", "test_c"], ["test_b"]])

    def test_all_cases_run_without_shards(self):
        self.assertEqual(self.cases_of({}), ["test_a", "test_b", "test_c"])


if __name__ == "__main__":
    testing_main.main()
