# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Hosts with a wrong clock or a full disk."""

import contextlib
import os
import re
import signal
import subprocess
import time

from tests.faults import cluster as clusters
from tests.faults import fault

SHIFTED_CLOCK = os.environ.get(
    "DISTBENCH_SHIFTED_CLOCK",
    os.path.abspath("tests/faults/libshifted_clock.so"),
)
CLOCK_SHIFT_SECONDS = 3

FAULTS = fault.Faults()


@contextlib.contextmanager
def _with_another_clock(cluster):
    cluster.node_environment = {
        "LD_PRELOAD": SHIFTED_CLOCK,
        "SHIFT_CLOCK_NS": str(CLOCK_SHIFT_SECONDS * 10**9),
    }
    yield


@FAULTS.add(f"node's clock {CLOCK_SHIFT_SECONDS} s ahead", _with_another_clock)
def clock_offset(cluster):
    run = cluster.start_run(clusters.traffic("shifted", seconds=1))
    outcome = run.finish()
    fault.check(outcome.status == 0, "the run failed", outcome)
    note = re.search(
        r"note \(clock_offset\): (the clock of node2 \(host node2\) is "
        r"(\d+\.\d+) s ahead .*)",
        outcome.out,
    )
    fault.check(note, "nothing is said of the clock", outcome)
    error_seconds = abs(float(note.group(2)) - CLOCK_SHIFT_SECONDS)
    fault.check(error_seconds < 0.2, "the clock is not so far off", outcome)
    return fault.Seen(None, note.group(1), cluster.seconds_until_usable())


STEP_SECONDS = 10


def _stepping():
    """Returns the environment of a process whose clock steps in 3 s."""
    return {
        "LD_PRELOAD": SHIFTED_CLOCK,
        "SHIFT_CLOCK_NS": str(STEP_SECONDS * 10**9),
        "SHIFT_CLOCK_FROM_NS": str(time.time_ns() + 3 * 10**9),
    }


def _survive_a_step(cluster):
    """The step comes in the middle of the test."""
    cluster.wait_for_nodes()
    return fault.survive(
        cluster, do=lambda: None, undo=lambda: None, seconds=6
    )


@FAULTS.add(f"node's clock steps {STEP_SECONDS} s ahead during a test")
def node_clock_steps(cluster):
    cluster.victim().send(signal.SIGTERM)
    cluster.victim().wait()
    cluster.node_environment = _stepping()
    cluster.start_node(clusters.VICTIM)
    return _survive_a_step(cluster)


@FAULTS.add(f"sequencer's clock steps {STEP_SECONDS} s ahead during a test")
def sequencer_clock_steps(cluster):
    cluster.sequencer.send(signal.SIGKILL)
    cluster.sequencer.wait()
    cluster.sequencer_environment = _stepping()
    cluster.start_sequencer()
    return _survive_a_step(cluster)


def _filler(cluster):
    return os.path.join(cluster.full_disk, "filler")


def _take_room(cluster):
    """Leaves room for descriptions of runs, and for no result."""
    disk = os.statvfs(cluster.full_disk)
    with open(_filler(cluster), "wb") as file:
        file.write(bytes(disk.f_bavail * disk.f_frsize - (16 << 10)))


def _make_room(cluster):
    os.remove(_filler(cluster))


@contextlib.contextmanager
def _full_disk(cluster):
    """Makes a folder cluster.full_disk with almost no room."""
    cluster.full_disk = os.path.join(cluster.folder, "full")
    os.makedirs(cluster.full_disk)
    where = ["tmpfs", cluster.full_disk]
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", *where], check=True
    )
    _take_room(cluster)
    try:
        yield
    finally:
        subprocess.run(["umount", cluster.full_disk], check=True)


@contextlib.contextmanager
def _results_on_a_full_disk(cluster):
    with _full_disk(cluster):
        cluster.sequencer_flags = [f"--results_dir={cluster.full_disk}"]
        yield
        cluster.close()


@FAULTS.add("sequencer's disk full", _results_on_a_full_disk)
def sequencer_disk_full(cluster):
    run = cluster.start_run(
        clusters.traffic("full", 1, requests_per_second=2000)
    )
    outcome = run.finish()
    fault.check(outcome.status == 3, "the client did not fail", outcome)
    words = fault.without_folder(cluster, fault.last_words(outcome))
    fault.check("No space left on device" in words, f'it said "{words}"', outcome)
    said = cluster.runs("list", "--format=json")
    fault.check(
        "the result of test 1 is lost: " in said,
        f"the list does not say so: {said}",
        outcome,
    )
    _make_room(cluster)
    usable_seconds = cluster.seconds_until_usable()
    _take_room(cluster)
    return fault.Seen(None, words, usable_seconds)


@FAULTS.add("client's disk full", _full_disk)
def client_disk_full(cluster):
    outfile = os.path.join(cluster.full_disk, "result")
    start = time.monotonic()
    run = cluster.start_run(clusters.traffic("full", 1), outfile=outfile)
    outcome = run.finish()
    noticed = time.monotonic() - start - 1
    left = set(os.listdir(cluster.full_disk)) - {"filler"}
    words = fault.without_folder(cluster, fault.last_words(outcome))
    fault.check(outcome.status == 3, "the client did not fail", outcome)
    fault.check(
        "No space left on device" in words, f'it said "{words}"', outcome
    )
    fault.check(not left, f"it left {left}", outcome)
    return fault.Seen(noticed, words, cluster.seconds_until_usable())
