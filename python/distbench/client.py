# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Submits tests to a sequencer, follows their runs and fetches their results."""

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

from google.protobuf.message import Message

from distbench import _channel
from distbench._optional import import_optional
from distbench._program import PathLike, Program
from distbench._proto import control_pb2
from distbench._submission import Submission
from distbench.configs import Tests, read_tests
from distbench.errors import DistbenchError, SequencerError
from distbench.progress import Observer, Progress, RunDescription, update
from distbench.results import Results, results_from

_SERVICE = "/distbench.DistBenchTestSequencer/"
_CONNECT_SECONDS = 5.0
_CALL_SECONDS = 60.0

# How long an interrupted call waits for the id of the run that it is to cancel.
_FIRST_EVENT_SECONDS = 5.0

_Reply = TypeVar("_Reply", bound=Message)


class _RunCancelled(SequencerError):
    """The run was cancelled; all that it measured has arrived."""


class Client:
    """A connection to a sequencer. Thread-safe; a context manager.

    Without an address, it is taken from DISTBENCH_TEST_SEQUENCER; likewise TLS
    files that are not given from DISTBENCH_TLS_CA, DISTBENCH_TLS_CERT and
    DISTBENCH_TLS_KEY, and from DISTBENCH_TLS_NAME the name that the sequencer's
    certificate must have, if that is not the host's.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        tls_ca: PathLike | None = None,
        tls_cert: PathLike | None = None,
        tls_key: PathLike | None = None,
        tls_name: str | None = None,
        timeout_s: float = _CONNECT_SECONDS,
        program: PathLike | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Connects.

        Args:
            address: "HOST:PORT".
            tls_ca, tls_cert, tls_key: PEM files.
            tls_name: see above.
            timeout_s: how long connecting may take.
            program: the program distbench, which fetches and reads results; see
                read_results().
            environment: instead of os.environ.

        Raises:
            ConfigError: the settings are not complete, or a file is missing.
            SequencerError: the sequencer cannot be reached; says what to check.
            MissingPackageError: grpcio is not installed.
        """
        self._endpoint = _channel.find_endpoint(
            os.environ if environment is None else environment,
            address=address,
            tls_ca=tls_ca,
            tls_cert=tls_cert,
            tls_key=tls_key,
            tls_name=tls_name,
        )
        self._program = program
        self._channel = _channel.open_channel(self._endpoint)
        self._grpc = import_optional("grpc", "client", "a connection to a sequencer")
        try:
            self.status(timeout_s=timeout_s)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection. Runs go on."""
        self._channel.close()

    @property
    def address(self) -> str:
        """The sequencer's address."""
        return self._endpoint.address

    def status(
        self, *, timeout_s: float = _CALL_SECONDS
    ) -> control_pb2.GetStatusResponse:
        """Returns the nodes and what runs (GetStatusResponse of control.proto)."""
        return self._call(
            "GetStatus",
            control_pb2.GetStatusRequest(),
            control_pb2.GetStatusResponse,
            timeout_s,
        )

    def runs(self) -> list[RunDescription]:
        """Lists waiting, running and ended runs, the oldest first."""
        response = self._call(
            "ListRuns",
            control_pb2.ListRunsRequest(),
            control_pb2.ListRunsResponse,
            _CALL_SECONDS,
        )
        return [
            RunDescription(
                run.id,
                control_pb2.RunDescription.State.Name(run.state).lower(),
                run.label,
                tuple(run.test_names),
                run.message,
            )
            for run in response.runs
        ]

    def submit(self, tests: Tests, *, label: str = "", preempt: bool = False) -> str:
        """Submits tests and returns the run's id, without waiting for them.
        Whether the registered nodes can host them shows when they run.

        Args:
            tests: a path of a config, its text, or a TestSequence. A string with
                a brace is a text, any other a path.
            label: kept with the run.
            preempt: run before all waiting runs that do not have this.

        Raises:
            ConfigError: the config cannot be read.
            SequencerError: the sequencer refused the tests; says why.
        """
        events = self._stream("RunTests", _request(tests, label, preempt), None)
        try:
            for event in self._received(events):
                if event.HasField("run_id"):
                    return event.run_id
        finally:
            # The run goes on without a listener.
            events.cancel()
        raise DistbenchError("the sequencer accepted the tests without a run id")

    def run(
        self,
        tests: Tests,
        *,
        label: str = "",
        preempt: bool = False,
        on_progress: Observer | None = None,
    ) -> Results:
        """Runs tests and returns their results.

        A test that fails is in the results, with its failure and what it had
        measured. If the run is cancelled, the tests that had begun are. If this
        call is interrupted (by Ctrl-C or an error of `on_progress`), the run is
        cancelled; what it measured can be fetched by results().

        Args:
            tests, label, preempt: see submit().
            on_progress: called on this thread for each Progress. It may call
                cancel(), after which run() returns what was measured.

        Raises:
            ConfigError, SequencerError: see submit(). If the connection was
                lost, the run goes on: use wait().
            ProgramError: the program distbench is missing; nothing was sent.
        """
        program = Program(self._program)
        request = _request(tests, label, preempt)

        def observe(progress: Progress) -> None:
            if on_progress is None:
                return
            try:
                on_progress(progress)
            except BaseException:
                self._cancel_quietly(progress.run_id)
                raise

        submission = Submission(
            lambda: self._stream("RunTests", request, None), self._received
        )
        try:
            return self._follow(submission.events(), observe, program)
        except KeyboardInterrupt:
            self._cancel_accepted(submission)
            raise
        finally:
            submission.close()

    def wait(self, run_id: str, *, on_progress: Observer | None = None) -> Results:
        """Follows a run until it ends, and returns its results. Interrupting
        this does not affect the run. `on_progress` is that of run().

        Raises:
            SequencerError: there is no such run, or the connection was lost.
            ProgramError: the program distbench is missing.
        """
        return self._get(run_id, True, on_progress)

    def results(self, run_id: str) -> Results:
        """Returns the results of a run that has ended; see wait()."""
        return self._get(run_id, False, None)

    def cancel(self, run_id: str) -> None:
        """Ends a waiting or running run; what it measured so far is kept.

        Raises:
            SequencerError: there is no such run, or it has ended.
        """
        self._call(
            "CancelRun",
            control_pb2.CancelRunRequest(run_id=run_id),
            control_pb2.CancelRunResponse,
            _CALL_SECONDS,
        )

    def _get(self, run_id: str, wait: bool, on_progress: Observer | None) -> Results:
        program = Program(self._program)
        events = self._stream(
            "GetRun", control_pb2.GetRunRequest(run_id=run_id, wait=wait), None
        )
        try:
            return self._follow(self._received(events), on_progress, program, run_id)
        finally:
            events.cancel()

    def _follow(
        self,
        events: Iterator[control_pb2.RunTestsEvent],
        observer: Observer | None,
        program: Program,
        run_id: str = "",
    ) -> Results:
        """Follows a run to its end, and gets its results."""
        progress = Progress(run_id, "accepted")
        has_begun = False
        try:
            for event in events:
                kind = event.WhichOneof("event")
                has_begun = has_begun or kind not in ("run_id", "queue_position")
                if kind == "result_chunk":
                    continue
                progress = update(progress, event)
                if observer is not None:
                    observer(progress)
        except _RunCancelled:
            if not has_begun:
                return Results()
        except SequencerError as error:
            if error.code != "UNAVAILABLE" or not progress.run_id:
                raise
            raise SequencerError(
                error.code,
                f"{error}; wait({progress.run_id!r}) of a new client follows the run "
                "if it still goes on",
            ) from None
        return self._fetch(progress.run_id, program)

    def _fetch(self, run_id: str, program: Program) -> Results:
        """Gets the results of a run that has ended. The program puts together the
        pieces in which they come."""
        with tempfile.TemporaryDirectory(prefix="distbench.") as folder:
            path = os.path.join(folder, "result.pb")
            program.fetch(run_id, path, self._endpoint.environment())
            return results_from(path, f"{self.address}/{run_id}", program)

    def _received(self, events: Any) -> Iterator[control_pb2.RunTestsEvent]:
        try:
            yield from events
        except self._grpc.RpcError as error:
            explained = _channel.explain(error, self._endpoint)
            if explained.code == "CANCELLED":
                raise _RunCancelled(explained.code, str(explained)) from None
            raise explained from None

    def _cancel_quietly(self, run_id: str) -> None:
        """The caller is told about another error, which matters more."""
        try:
            self.cancel(run_id)
        except SequencerError:
            pass  # It has ended, or the sequencer is gone.

    def _cancel_accepted(self, submission: Submission) -> None:
        """Cancels the run that these tests are, or are going to be."""
        try:
            run_id = submission.run_id(_FIRST_EVENT_SECONDS)
        except TimeoutError:
            warnings.warn(
                f"{self.address} has not told the id of the run, which may go on; "
                "runs() lists it, and cancel() ends it",
                stacklevel=3,
            )
        except SequencerError:
            pass  # The sequencer has refused the tests, or is gone.
        else:
            if run_id:
                self._cancel_quietly(run_id)

    def _call(
        self, method: str, request: Message, reply: type[_Reply], timeout_s: float
    ) -> _Reply:
        call = self._channel.unary_unary(
            _SERVICE + method,
            request_serializer=_serialize,
            response_deserializer=reply.FromString,
        )
        try:
            response: _Reply = call(request, timeout=timeout_s)
        except self._grpc.RpcError as error:
            raise _channel.explain(error, self._endpoint) from None
        return response

    def _stream(self, method: str, request: Message, timeout_s: float | None) -> Any:
        call = self._channel.unary_stream(
            _SERVICE + method,
            request_serializer=_serialize,
            response_deserializer=control_pb2.RunTestsEvent.FromString,
        )
        return call(request, timeout=timeout_s)


def _request(tests: Tests, label: str, preempt: bool) -> control_pb2.RunTestsRequest:
    return control_pb2.RunTestsRequest(
        test_sequence=read_tests(tests), label=label, preempt=preempt
    )


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()
