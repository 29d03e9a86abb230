"""Submits tests to a sequencer, follows their runs and fetches their results."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf import text_format
from google.protobuf.message import Message

from distbench import _channel, result_files
from distbench._assembly import ResultAssembler
from distbench._optional import import_optional
from distbench._proto import control_pb2, traffic_config_pb2
from distbench.errors import ConfigError, DistbenchError, SequencerError
from distbench.results import Results

if TYPE_CHECKING:
    import grpc

_SERVICE = "/distbench.DistBenchTestSequencer/"
_CONNECT_SECONDS = 5.0
_CALL_SECONDS = 60.0


Tests = str | os.PathLike[str] | traffic_config_pb2.TestSequence
_Reply = TypeVar("_Reply", bound=Message)


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
        tls_ca: str | os.PathLike[str] | None = None,
        tls_cert: str | os.PathLike[str] | None = None,
        tls_key: str | os.PathLike[str] | None = None,
        tls_name: str | None = None,
        timeout_s: float = _CONNECT_SECONDS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Connects.

        Args:
            address: "HOST:PORT".
            tls_ca, tls_cert, tls_key: PEM files.
            tls_name: see above.
            timeout_s: how long connecting may take.
            environment: instead of os.environ.

        Raises:
            ConfigError: the settings are not complete, or a file is missing.
            SequencerError: the sequencer cannot be reached; says what to check.
            MissingPackageError: grpcio is not installed.
        """
        self._endpoint = _channel.find_endpoint(
            address,
            tls_ca,
            tls_cert,
            tls_key,
            tls_name,
            os.environ if environment is None else environment,
        )
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
        measured. If this is interrupted (by Ctrl-C or an error of `on_progress`),
        the run is cancelled; what it measured can be fetched by results().

        Args:
            tests, label, preempt: see submit().
            on_progress: called on this thread for each Progress. It may call
                cancel(), after which run() returns what was measured.

        Raises:
            ConfigError, SequencerError: see submit(). If the connection was
                lost, the run goes on: use wait().
        """
        events = self._stream("RunTests", _request(tests, label, preempt), None)
        run_ids: list[str] = []

        def observe(progress: Progress) -> None:
            run_ids[:] = [progress.run_id]
            if on_progress is None:
                return
            try:
                on_progress(progress)
            except BaseException:
                self._cancel_quietly(progress.run_id)
                raise

        try:
            return self._follow(events, observe, "")
        except KeyboardInterrupt:
            for run_id in run_ids:
                self._cancel_quietly(run_id)
            raise
        finally:
            events.cancel()

    def wait(self, run_id: str, *, on_progress: Observer | None = None) -> Results:
        """Follows a run until it ends, and returns its results. Interrupting
        this does not affect the run. `on_progress` is that of run().

        Raises:
            SequencerError: there is no such run, or the connection was lost.
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
        events = self._stream(
            "GetRun", control_pb2.GetRunRequest(run_id=run_id, wait=wait), None
        )
        try:
            return self._follow(events, on_progress, run_id)
        finally:
            events.cancel()

    def _follow(self, events: Any, observer: Observer | None, run_id: str) -> Results:
        """Receives a run to its end."""
        assembler = ResultAssembler()
        progress = Progress(run_id, "accepted")
        for event in self._received(events):
            assembler.add(event)
            if event.HasField("result_chunk"):
                continue
            progress = _update(progress, event)
            if observer is not None:
                observer(progress)
        result_files.complete(assembler.results)
        return Results([(f"{self.address}/{progress.run_id}", assembler.results)])

    def _received(self, events: Any) -> Iterator[control_pb2.RunTestsEvent]:
        try:
            yield from events
        except self._grpc.RpcError as error:
            raise _channel.explain(error, self._endpoint) from None

    def _cancel_quietly(self, run_id: str) -> None:
        """The caller is told about another error, which matters more."""
        try:
            self.cancel(run_id)
        except SequencerError:
            pass  # It has ended, or the sequencer is gone.

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


def read_tests(tests: Tests) -> traffic_config_pb2.TestSequence:
    """Reads a config: a path, its text, or a TestSequence. A string with a brace
    is a text, any other a path.

    Raises:
        ConfigError: it cannot be read, or it is not a config; names the place.
    """
    if isinstance(tests, traffic_config_pb2.TestSequence):
        return tests
    source, text = "the text", tests
    if not isinstance(tests, str) or "{" not in tests:
        source = os.fspath(tests)
        try:
            with open(source, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read tests from {source}: {error}") from None
    sequence = traffic_config_pb2.TestSequence()
    try:
        text_format.Parse(str(text), sequence)
    except text_format.ParseError as error:
        raise ConfigError(f"{source} is not a config of tests: {error}") from None
    if not sequence.tests:
        raise ConfigError(f"{source} has no tests; write tests {{ ... }}")
    return sequence


def _request(tests: Tests, label: str, preempt: bool) -> control_pb2.RunTestsRequest:
    return control_pb2.RunTestsRequest(
        test_sequence=read_tests(tests), label=label, preempt=preempt
    )


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()


def _update(progress: Progress, event: control_pb2.RunTestsEvent) -> Progress:
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
