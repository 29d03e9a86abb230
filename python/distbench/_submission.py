# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Sending tests so that no interrupt loses the run that they become."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Thread
from typing import Any

from distbench._proto import control_pb2


class Submission:
    """Tests that are sent, and the events of their run.

    A thread sends the tests and receives the first event, which has the run's
    id. So an interrupt of the caller, whenever it comes, either keeps the tests
    from being sent or leaves somebody who learns the id.
    """

    def __init__(
        self,
        send: Callable[[], Any],
        received: Callable[[Any], Iterator[control_pb2.RunTestsEvent]],
    ) -> None:
        """Sends nothing yet.

        Args:
            send: sends the tests and returns gRPC's call.
            received: the events of that call.
        """
        self._send = send
        self._received = received
        self._call: Any = None
        self._others: Iterator[control_pb2.RunTestsEvent] = iter(())
        self._first: Future[control_pb2.RunTestsEvent | None] = Future()

    def events(self) -> Iterator[control_pb2.RunTestsEvent]:
        """Sends the tests and yields the events of their run."""
        Thread(target=self._begin, daemon=True).start()
        first = self._first.result()
        if first is not None:
            yield first
            yield from self._others

    def run_id(self, timeout_s: float) -> str:
        """The id of the run, for which this may wait; empty if there is none and
        is not going to be.

        Raises:
            TimeoutError: the tests were sent, and no id has come.
            SequencerError: the sequencer has refused the tests, or is gone.
        """
        if self._first.cancel():
            return ""  # Nothing was sent.
        first = self._first.result(timeout_s)
        return "" if first is None else first.run_id

    def close(self) -> None:
        """Ends the call. The run goes on."""
        if self._call is not None:
            self._call.cancel()

    def _begin(self) -> None:
        if not self._first.set_running_or_notify_cancel():
            return
        try:
            self._call = self._send()
            self._others = self._received(self._call)
            self._first.set_result(next(self._others, None))
        except BaseException as error:
            self._first.set_exception(error)
