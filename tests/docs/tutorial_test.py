# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The tutorial is true: its commands run, and its outputs, and that of README.md, are
those of its results.

A block ```sh is run as it is written, in one shell after the other; the one that is marked
"cluster" goes on in the background. "exits-N" after the language says how the last
command ends. The outputs that follow "<!-- from: COMMAND -->" are what distbench prints
of docs/tutorial/results; a line "..." stands for lines that are left out.
"""

import os
import re
import shlex

from tests import programs
from tests import testing_main

# A search takes minutes.
programs.DEADLINE_SECONDS = 600

PAGE = os.path.abspath("docs/tutorial.md")
README = os.path.abspath("README.md")
RESULTS = os.path.abspath("docs/tutorial/results")

# Where a cluster listens by default; tests use a free port.
DEFAULT_PORT = "10000"
PORT = r"Listening at \S+:(\d+)"

COMMANDS = re.compile(r"^```sh *(.*)\n((?:.*\n)*?)```$", re.M)
OUTPUTS = re.compile(r"^<!-- from: (.*) -->\n```text\n((?:.*\n)*?)```$", re.M)


def read(path=PAGE):
    with open(path, encoding="utf-8") as file:
        return file.read()


def matches(shown, printed):
    """Whether the lines are those that were printed, but for lines left out."""
    pieces = re.split(r"^\.\.\.\n", shown, flags=re.M)
    return re.fullmatch(".*".join(map(re.escape, pieces)), printed, re.S)


class OutputsTest(programs.ProgramTest):
    def test_outputs_are_those_of_the_results(self):
        first = OUTPUTS.findall(read(README))
        outputs = first + OUTPUTS.findall(read())
        self.assertEqual(len(first), 1)
        self.assertGreater(len(outputs), 5)
        for command, shown in outputs:
            with self.subTest(command):
                outcome = self.distbench(*shlex.split(command), cwd=RESULTS)
                self.assertIn(outcome.status, (0, 2, 3), outcome)
                self.assertTrue(shown.replace("...", "").strip(), "nothing is shown")
                self.assertTrue(matches(shown, outcome.out), outcome.out)

    def test_no_result_is_left_over(self):
        named = set(re.findall(r"[a-z]+\.pb\.gz", read()))
        self.assertEqual(set(os.listdir(RESULTS)), named)


class CommandsTest(programs.ProgramTest):
    def setUp(self):
        super().setUp()
        folder = self.path("programs")
        os.mkdir(folder)
        os.symlink(programs.DISTBENCH, f"{folder}/distbench")
        os.symlink(programs.TEST_BUILDER, f"{folder}/test_builder")
        for name in ("docs", "workloads"):
            os.symlink(os.path.abspath(name), self.path(name))
        self.variables = self.environment(PATH=f"{folder}:{os.environ['PATH']}")
        self.port = DEFAULT_PORT

    def shell(self, commands):
        """Starts commands of the page in the folder of this test."""
        commands = commands.replace(f"localhost:{DEFAULT_PORT}", f"localhost:{self.port}")
        return self.start(
            "bash", "-ec", commands, cwd=self.folder, env=self.variables
        )

    def start_cluster(self, commands):
        cluster = self.shell(commands.replace("test_sequencer", "test_sequencer --port=0"))
        self.port = cluster.wait_for(PORT).group(1)

    def export(self, commands):
        """Keeps variables for the commands that follow, as the reader's shell does."""
        name, value = commands.removeprefix("export ").strip().split("=")
        self.variables[name] = value.replace(DEFAULT_PORT, self.port)

    def test_commands_run_as_they_are_written(self):
        blocks = COMMANDS.findall(read())
        self.assertGreater(len(blocks), 9)
        for mark, commands in blocks:
            with self.subTest(commands):
                if mark == "cluster":
                    self.start_cluster(commands)
                elif commands.startswith("export "):
                    self.export(commands)
                else:
                    expected = int(mark.removeprefix("exits-")) if mark else 0
                    outcome = self.shell(commands).wait()
                    # A busy machine makes numbers false, which exits 3.
                    self.assertIn(outcome.status, (expected, 3), outcome)


if __name__ == "__main__":
    testing_main.main()
