# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that the examples of docs/python.md and the notebook's cells run."""

import io
import json
import os
import re
from contextlib import redirect_stdout
from unittest import mock

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from tests import programs, testing_main  # noqa: E402
from tests.programs import TEST_BUILDER  # noqa: E402

DOCS = os.path.abspath("docs/python.md")
NOTEBOOK = os.path.abspath("python/examples/queue.ipynb")


def examples_of_page():
    """The Python of the page, in order."""
    with open(DOCS, encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def code_of_notebook():
    with open(NOTEBOOK, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


class ExamplesTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        # The examples run in another folder.
        program = mock.patch.dict(os.environ, {"DISTBENCH": programs.DISTBENCH})
        program.start()
        self.addCleanup(program.stop)
        self.addCleanup(pyplot.close, "all")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(os.path.dirname(NOTEBOOK))

    def run_all(self, examples):
        """Runs examples in one module; returns what they printed, and it."""
        module = {"__name__": "__main__"}
        printed = io.StringIO()
        with redirect_stdout(printed):
            for example in examples:
                # So that a traceback shows the example.
                with self.subTest(example=example):
                    exec(compile(example, "example", "exec"), module)
        return printed.getvalue(), module

    def test_the_page(self):
        examples = examples_of_page()
        self.assertGreater(len(examples), 10)
        os.symlink(TEST_BUILDER, self.path("test_builder"))
        report = self.distbench("report", "data/sweep.pb.gz", "--format=json").out
        examples = [
            example.replace("/tmp/", self.folder + "/") for example in examples
        ]
        self.write("sweep.json", report)
        sequencer = self.start_sequencer()
        for _ in range(2):
            self.start_node(sequencer)
        environment = {
            "DISTBENCH_TEST_SEQUENCER": sequencer.address,
            "PATH": self.folder + os.pathsep + os.environ["PATH"],
        }
        with mock.patch.dict(os.environ, environment):
            printed, _ = self.run_all(examples)
        self.assertRegex(printed, r"\n[1-9]\d* of [1-9]\d* took")
        self.assertIn("finished", printed)
        self.assertGreater(os.path.getsize(self.path("curves.png")), 10000)

    def test_the_notebook(self):
        printed, module = self.run_all(code_of_notebook())
        self.assertIn("of theory", printed)
        # What the notebook is to show: means and capacity agree with theory, and
        # percentiles are above it, because hosts add time, but not far above.
        table = module["table"]
        self.assertEqual(len(table), 15)
        ratios = table["measured_ms"] / table["theory_ms"]
        self.assertGreater(ratios.min(), 1)
        self.assertLess(ratios.max(), 2)
        means = module["means"]
        self.assertAlmostEqual(means["base"] * module["MS"] / 4, 1, delta=0.1)
        self.assertAlmostEqual(means["new"] * module["MS"] / 3, 1, delta=0.1)
        found = module["answer"]["load"] / module["expected"]
        self.assertAlmostEqual(found, 1, delta=0.1)


if __name__ == "__main__":
    testing_main.main()
