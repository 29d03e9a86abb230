# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that reading results needs protobuf and the program only, and that
whatever needs more says so."""

import subprocess
import sys
import unittest

import distbench
from tests import testing_main

# Runs the statements in a Python that has none of the optional packages.
_PROGRAM = """
import sys
for name in ("pandas", "numpy", "matplotlib", "grpc"):
    sys.modules[name] = None
{statements}
"""


def run_without_optional_packages(statements):
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(statements=statements)],
        capture_output=True,
        text=True,
        check=False,
    )


class ImportsTest(unittest.TestCase):
    def test_reading_needs_protobuf_only(self):
        outcome = run_without_optional_packages(
            """
import distbench
from python.tests.example import results_of, test_result
results = results_of(test_result())
print(len(results.table("percentiles").rows))
print(len(distbench.compare(results, results).rows))
distbench.Client, distbench.plots
"""
        )
        self.assertEqual(outcome.stderr, "")
        self.assertEqual(outcome.stdout.split(), ["6", "7"])

    def test_missing_packages_are_named_with_the_remedy(self):
        for call, package, extra in (
            ("results.frame('rpcs')", "pandas", "pandas"),
            ("distbench.plots.latency_curves(results)", "matplotlib", "plots"),
            ("distbench.Client('localhost:1')", "grpc", "client"),
        ):
            outcome = run_without_optional_packages(
                f"""
import distbench
from python.tests.example import results_of, test_result
results = results_of(test_result())
try:
    {call}
except distbench.MissingPackageError as error:
    print(error)
"""
            )
            self.assertIn(f"needs {package}", outcome.stdout, outcome.stderr)
            self.assertIn(f"pip install 'distbench[{extra}]'", outcome.stdout)

    def test_all_names_exist(self):
        for name in distbench.__all__:
            self.assertIsNotNone(getattr(distbench, name))
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            distbench.nothing


if __name__ == "__main__":
    testing_main.main()
