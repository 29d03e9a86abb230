# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The framework of faults: what happens around them, and what is checked."""

import contextlib
import dataclasses
import re
import time

from tests.faults import cluster as clusters

# A test that runs until something ends it.
LONG_SECONDS = 300

ALL_INSTANCES = ("client/0", "server/0", "server/1")

# Beginning of the error about the node that is hit by faults: always, and if
# its silence was noticed.
LOST = r"^node2 \(host node2\) was lost during the traffic: "
SILENT = LOST + r"nothing was heard for "


@dataclasses.dataclass
class Seen:
    """The observed effects of a fault."""

    # Time until the client ended; None: the test went on.
    noticed_seconds: float | None
    # The client's message about it.
    user_saw: str
    # Time from the end of the fault until a test succeeded on all nodes.
    recovered_seconds: float


@dataclasses.dataclass
class Fault:
    name: str
    title: str
    happen: object  # called with a Cluster; returns a Seen
    set_up: object  # called with a Cluster that has not started; a context


@contextlib.contextmanager
def _nothing(_cluster):
    yield


class Faults(list):
    """The faults of one subject."""

    def add(self, title, set_up=_nothing, name=None):
        """A decorator of functions that make a fault happen.

        name: by default the function's.
        """

        def register(function):
            self.append(
                Fault(name or function.__name__, title, function, set_up)
            )
            return function

        return register


def check(condition, what, outcome):
    if not condition:
        raise AssertionError(f"{what}: {outcome}")


def last_words(outcome):
    """Returns the line that says why the run failed."""
    match = re.search(r"what it measured is incomplete: (.*)", outcome.out)
    if match:
        return match.group(1)
    lines = [line for line in outcome.err.splitlines() if "distbench: " in line]
    return lines[-1].split("distbench: ", 1)[1] if lines else ""


def without_folder(cluster, words):
    """Returns the text without the path of the test's own folder."""
    return words.replace(cluster.folder + "/", "")


def check_kept(outfile, instances, outcome, has_failed):
    """Checks that the result has these instances, and whether it failed."""
    with open(outfile, encoding="utf-8") as file:
        text = file.read()
    check(
        ('failure: "' in text) == has_failed,
        f"failed: {not has_failed}",
        outcome,
    )
    for instance in instances:
        is_there = re.search(rf'instance_logs {{\s+key: "{instance}"', text)
        check(is_there, f"the result has nothing of {instance}", outcome)


def end_a_test(
    cluster, do, undo, saw, kept=("client/0", "server/0"), gone=(), noticed=None
):
    """A fault that ends the running test with an error that says why."""
    run = cluster.start_run(clusters.traffic("disturbed", LONG_SECONDS))
    cluster.wait_for_traffic()
    start = time.monotonic()
    do()
    if noticed is not None:
        noticed()
        noticed_seconds = time.monotonic() - start
        outcome = run.finish()
    else:
        outcome = run.finish()
        noticed_seconds = time.monotonic() - start
    words = last_words(outcome)
    check(outcome.status == 3, "the run did not fail", outcome)
    check(re.search(saw, words), f'"{words}" is not "{saw}"', outcome)
    if kept:
        check_kept(run.outfile, kept, outcome, has_failed=True)
    cluster.check_nothing_crashed(*gone)
    undo()
    return Seen(noticed_seconds, words, cluster.seconds_until_usable())


def survive(cluster, do, undo, seconds=4, saw="nothing; the test went on"):
    """A fault during which a test continues to its end."""
    run = cluster.start_run(clusters.traffic("undisturbed", seconds))
    cluster.wait_for_traffic()
    do()
    outcome = run.finish()
    check(outcome.status == 0, "the run failed", outcome)
    check_kept(run.outfile, ALL_INSTANCES, outcome, has_failed=False)
    cluster.check_nothing_crashed()
    undo()
    return Seen(None, saw, cluster.seconds_until_usable())
