# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What the tests of the emulated machine share.

A test boots the machine with a script, and then checks, case by case, the files
that the script left behind.
"""

import dataclasses
import json
import os
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
DISTBENCH = os.environ.get(
    "DISTBENCH", f"{REPOSITORY}/bazel-bin/distbench/cli/distbench"
)


# What a test's controls are written to.
CONTROL_FILES = (
    "cpu.weight",
    "cpu.max",
    "cpuset.cpus",
    "cpuset.mems",
    "memory.min",
    "memory.low",
    "memory.high",
    "memory.max",
    "memory.swap.max",
    "io.weight",
    "io.max",
    "io.cost.qos",
    "io.cost.model",
)


@dataclasses.dataclass(frozen=True)
class Boot:
    """What a test needs in order to boot: a kernel, and where results go."""

    kernel: str
    out: str


def read_here(name):
    """Returns a file of this folder."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def script(name):
    """Returns the files of a machine that runs this script of the folder."""
    return {
        "guest.sh": read_here(name),
        "guest_lib.sh": read_here("guest_lib.sh"),
    }


class Findings(unittest.TestCase):
    """The files that the machine left behind in the folder `out`."""

    out = ""

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def facts(self, name="facts"):
        """Returns the lines "NAME VALUE" of a file as a dictionary."""
        pairs = (line.split(" ", 1) for line in self.read(name).splitlines())
        return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}

    def report(self, name):
        """Returns the JSON of a result file."""
        outcome = subprocess.run(
            [DISTBENCH, "report", "--format=json", f"{self.out}/{name}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if not outcome.stdout:
            raise AssertionError(f"no report of {name}: {outcome.stderr}")
        return json.loads(outcome.stdout)
