# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What a sequencer says about its runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from distbench._proto import control_pb2


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        run_id: the run.
        state: "accepted", "waiting" (queue_position runs are ahead), "started"
            (a test), "running" (its traffic; about once a second) or "finished"
            (a test).
        test_index: the position of the test in its sequence.
        test_name: known once the test has started.
        queue_position: while waiting.
        expected_duration_s: of the test; None if its config does not say.
        traffic_time_s: since its traffic started; None before the first RPC.
        succeeded, failed, in_flight: RPCs of the test so far.
        offered: RPCs of open loops that should have been sent by now.
    """

    run_id: str
    state: str
    test_index: int = 0
    test_name: str = ""
    queue_position: int = 0
    expected_duration_s: float | None = None
    traffic_time_s: float | None = None
    succeeded: int = 0
    failed: int = 0
    in_flight: int = 0
    offered: int = 0


Observer = Callable[[Progress], object]


@dataclass(frozen=True)
class RunDescription:
    """A run that a sequencer knows.

    Attributes:
        id: for wait(), results() and cancel().
        state: "waiting", "running", "done", "failed", "cancelled" or
            "interrupted" (the sequencer ended during the run).
        label: as given when it was submitted.
        test_names: its tests.
        message: why it failed or was interrupted.
    """

    id: str
    state: str
    label: str
    test_names: tuple[str, ...]
    message: str


def update(progress: Progress, event: control_pb2.RunTestsEvent) -> Progress:
    """Returns the progress after an event that holds no piece of a result."""
    if event.HasField("run_id"):
        return replace(progress, run_id=event.run_id, state="accepted")
    if event.HasField("queue_position"):
        return replace(
            progress, state="waiting", queue_position=event.queue_position
        )
    if event.HasField("started"):
        expected_s = None
        if event.started.HasField("expected_duration_us"):
            expected_s = event.started.expected_duration_us / 1e6
        return Progress(
            progress.run_id,
            "started",
            event.test_index,
            event.started.name,
            expected_duration_s=expected_s,
        )
    if event.HasField("progress"):
        counts = event.progress
        time_s = None
        if counts.HasField("traffic_time_ns"):
            time_s = counts.traffic_time_ns / 1e9
        return replace(
            progress,
            state="running",
            test_index=event.test_index,
            traffic_time_s=time_s,
            succeeded=counts.succeeded_count,
            failed=counts.failed_count,
            in_flight=counts.in_flight_count,
            offered=counts.offered_count,
        )
    return replace(progress, state="finished", test_index=event.test_index)
