"""Puts results together from the pieces that a sequencer sends.

The counterpart of distbench/results/merge.h: the order of pieces only affects
the order of samples.
"""

from typing import Any, TypeVar

from google.protobuf.message import Message

from distbench._proto import control_pb2, results_pb2
from distbench._totals import Moments, RpcTotals, saturated
from distbench.errors import DistbenchError, ResultError
from distbench.histogram import Histogram

_INTERVAL_COUNTS = (
    "offered_count",
    "sent_count",
    "succeeded_count",
    "failed_count",
    "warmup_count",
    "request_bytes",
    "response_bytes",
    "attempt_count",
)
_INTERVAL_HISTOGRAMS = ("service_time_ns", "response_time_ns")
_ACTIVITY_COUNTS = (
    "offered_count",
    "completed_count",
    "input_bytes",
    "output_bytes",
)
_ACTIVITY_HISTOGRAMS = ("read_ns", "write_ns")

# As many as a sequencer takes for a run: tests_per_run of
# distbench/sequencer/runs/run_book.h.
_MOST_TESTS = 100_000

# kMaxFaultTimes of distbench/results/merge.h.
_MOST_FAULT_TIMES = 1000

_Series = TypeVar("_Series", results_pb2.RpcTimeSeries, results_pb2.ActivitySeries)
_Interval = TypeVar("_Interval", results_pb2.RpcInterval, results_pb2.ActivityInterval)


class ResultAssembler:
    """The results of the tests of one run. Not thread-safe."""

    def __init__(self, test_count: int = _MOST_TESTS) -> None:
        """test_count: how many tests the run may have."""
        self.results = results_pb2.TestSequenceResults()
        self._test_count = test_count
        self._unfinished: set[int] = set()

    def add(self, event: control_pb2.RunTestsEvent) -> None:
        """Adds what an event holds of a result.

        Raises:
            ResultError: a piece contradicts itself or what there is already.
            DistbenchError: the event is not of a test of the run.
        """
        if event.HasField("result_chunk"):
            merge_chunk(
                event.result_chunk, self._result(event.test_index).service_logs
            )
        elif event.HasField("finished"):
            self._result(event.test_index).MergeFrom(event.finished)
            self._unfinished.discard(event.test_index)

    def mark_incomplete(self, reason: str) -> None:
        """Notes in tests of which the end is missing why it will not come."""
        for index in self._unfinished:
            self.results.test_results[index].run_info.failure = reason

    def _result(self, index: int) -> results_pb2.TestResult:
        if not 0 <= index < self._test_count:
            raise DistbenchError(
                f"the sequencer sent an event of test {index} of {self._test_count}"
            )
        while len(self.results.test_results) <= index:
            self._unfinished.add(len(self.results.test_results))
            self.results.test_results.add()
        return self.results.test_results[index]


def merge_chunk(chunk: results_pb2.ResultChunk, logs: results_pb2.ServiceLogs) -> None:
    """Merges a piece of an instance's log; see ResultChunk."""
    if not chunk.instance:
        raise ResultError("a piece of a log does not say of which instance it is")
    log = logs.instance_logs[chunk.instance]
    _set_instance_log(chunk.instance_log, log)
    _merge_measurements(chunk.instance_log, log)
    if chunk.HasField("rpc_log"):
        peer_log = log.peer_logs[chunk.peer]
        rpc_logs = peer_log.replay_logs if chunk.is_replay else peer_log.rpc_logs
        _merge_rpc_log(chunk.rpc_log, rpc_logs[chunk.rpc_index])


def _set_instance_log(
    piece: results_pb2.ServicePerformanceLog, log: results_pb2.ServicePerformanceLog
) -> None:
    """Sets what an instance sends only once."""
    if piece.HasField("error_dictionary"):
        log.error_dictionary.CopyFrom(piece.error_dictionary)
    if piece.HasField("engine_error_message"):
        log.engine_error_message = piece.engine_error_message
    if piece.HasField("traffic_start_timestamp_ns"):
        log.traffic_start_timestamp_ns = piece.traffic_start_timestamp_ns
    if piece.HasField("measurements_end_timestamp_ns"):
        log.measurements_end_timestamp_ns = piece.measurements_end_timestamp_ns
    for name, value in piece.driver_counters.items():
        log.driver_counters[name] = value
    log.network_settings.extend(piece.network_settings)
    log.replay_trace_logs.extend(piece.replay_trace_logs)


def _merge_measurements(
    piece: results_pb2.ServicePerformanceLog, log: results_pb2.ServicePerformanceLog
) -> None:
    for index, series in piece.rpc_time_series.items():
        _merge_series(
            series,
            log.rpc_time_series[index],
            _INTERVAL_COUNTS,
            _INTERVAL_HISTOGRAMS,
        )
    for name, activity in piece.activity_logs.items():
        _merge_activity_log(activity, log.activity_logs[name])
    for index, load in piece.offered_loads.items():
        _merge_load(load, log.offered_loads[index])
    for index, statistics in piece.pooled_statistics.items():
        _merge_statistics(statistics, log.pooled_statistics[index])
    for index, streams in piece.stream_statistics.items():
        _merge_streams(streams, log.stream_statistics[index])
    for index, policy in piece.policy_statistics.items():
        _merge_policies(policy, log.policy_statistics[index])
    for name, fault in piece.fault_logs.items():
        _merge_fault(fault, log.fault_logs[name])
    if piece.HasField("admission_log"):
        _merge_admission(piece.admission_log, log.admission_log)


def _merge_rpc_log(
    piece: results_pb2.RpcPerformanceLog, log: results_pb2.RpcPerformanceLog
) -> None:
    if piece.HasField("statistics"):
        _merge_statistics(piece.statistics, log.statistics)
    log.successful_rpc_samples.extend(piece.successful_rpc_samples)
    log.failed_rpc_samples.extend(piece.failed_rpc_samples)


def _merge_statistics(
    piece: results_pb2.RpcStatistics, total: results_pb2.RpcStatistics
) -> None:
    if total.ByteSize() == 0:
        total.CopyFrom(piece)
        return
    totals = RpcTotals()
    totals.add(total)
    totals.add(piece)
    total.CopyFrom(totals.encode())


def _merge_activity_log(
    piece: results_pb2.ActivityLog, log: results_pb2.ActivityLog
) -> None:
    """The series comes in pieces, and everything else once."""
    if piece.activity_metrics:
        del log.activity_metrics[:]
        log.activity_metrics.extend(piece.activity_metrics)
    if piece.HasField("duration_ns"):
        log.duration_ns.CopyFrom(piece.duration_ns)
    if piece.HasField("queueing_ns"):
        log.queueing_ns.CopyFrom(piece.queueing_ns)
    if piece.HasField("series"):
        _merge_series(
            piece.series, log.series, _ACTIVITY_COUNTS, _ACTIVITY_HISTOGRAMS
        )


def _merge_load(
    piece: results_pb2.OfferedLoad, total: results_pb2.OfferedLoad
) -> None:
    _add_counts(piece, total, ("offered_count", "unsent_count", "held_back_count"))
    if piece.HasField("unsent_wait_ns"):
        _merge_histogram(piece.unsent_wait_ns, total.unsent_wait_ns)


def _merge_fault(piece: results_pb2.FaultLog, total: results_pb2.FaultLog) -> None:
    _add_counts(piece, total, ("request_count", "connection_count"))
    total.times.extend(piece.times[: _MOST_FAULT_TIMES - len(total.times)])


def _merge_admission(
    piece: results_pb2.AdmissionLog, total: results_pb2.AdmissionLog
) -> None:
    _add_counts(piece, total, ("admitted_count", "refused_count"))
    if piece.HasField("wait_ns"):
        _merge_histogram(piece.wait_ns, total.wait_ns)


def _merge_streams(
    piece: results_pb2.StreamStatistics, total: results_pb2.StreamStatistics
) -> None:
    _add_counts(
        piece,
        total,
        (
            "stream_count",
            "request_messages",
            "response_messages",
            "request_bytes",
            "response_bytes",
        ),
    )
    for field in (
        "first_message_ns",
        "gap_ns",
        "round_trip_ns",
        "client_blocked_ns",
        "server_blocked_ns",
    ):
        if piece.HasField(field):
            _merge_histogram(getattr(piece, field), getattr(total, field))


def _merge_policies(
    piece: results_pb2.PolicyStatistics, total: results_pb2.PolicyStatistics
) -> None:
    for field in results_pb2.PolicyStatistics.DESCRIPTOR.fields:
        if field.name.endswith("_count"):
            _add_counts(piece, total, (field.name,))
        elif not piece.HasField(field.name):
            continue
        elif field.name == "concurrency_limit":
            limits = Moments()
            limits.add(total.concurrency_limit)
            limits.add(piece.concurrency_limit)
            limits.encode(total.concurrency_limit)
        else:
            _merge_histogram(getattr(piece, field.name), getattr(total, field.name))


def _merge_series(
    piece: _Series,
    total: _Series,
    counts: tuple[str, ...],
    histograms: tuple[str, ...],
) -> None:
    """Adds a series, in intervals of the wider one of both."""
    if piece.interval_ns <= 0:
        raise ResultError(f"a time series has intervals of {piece.interval_ns} ns")
    if not total.intervals:
        total.CopyFrom(piece)
        return
    widest_ns = max(piece.interval_ns, total.interval_ns)
    if widest_ns % piece.interval_ns != 0 or widest_ns % total.interval_ns != 0:
        raise ResultError(
            f"time series with intervals of {piece.interval_ns} and "
            f"{total.interval_ns} ns cannot be merged"
        )
    merged: dict[int, Any] = {}
    for series in (total, piece):
        for interval in series.intervals:
            index = interval.index * series.interval_ns // widest_ns
            if index not in merged:
                merged[index] = _copy(interval, index)
            else:
                _add_interval(interval, merged[index], counts, histograms)
    del total.intervals[:]
    total.interval_ns = widest_ns
    total.intervals.extend(merged[index] for index in sorted(merged))


def _copy(interval: _Interval, index: int) -> _Interval:
    copy = type(interval)()
    copy.CopyFrom(interval)
    copy.index = index
    return copy


def _add_interval(
    interval: _Interval,
    total: _Interval,
    counts: tuple[str, ...],
    histograms: tuple[str, ...],
) -> None:
    _add_counts(interval, total, counts)
    for name in histograms:
        if interval.HasField(name):
            _merge_histogram(getattr(interval, name), getattr(total, name))


def _add_counts(piece: Message, total: Message, names: tuple[str, ...]) -> None:
    for name in names:
        if piece.HasField(name):
            setattr(total, name, saturated(getattr(total, name) + getattr(piece, name)))


def _merge_histogram(
    piece: results_pb2.Histogram, total: results_pb2.Histogram
) -> None:
    merged = Histogram.from_proto(piece)
    if total.ByteSize() > 0:
        merged = Histogram.from_proto(total) + merged
    total.CopyFrom(merged.to_proto())
