"""RPC statistics in decoded form, in which results are added up.

The counterpart of distbench/results/rpc_totals.h and legacy_results.h.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from distbench._proto import results_pb2
from distbench.errors import ResultError
from distbench.histogram import Histogram

# The parts of a service time, in the order in which reports list them.
TIME_PARTS = ("network", "server_queue", "server_handler")

_LATENCIES = ("service_time", "response_time", "lateness")
_INT64_MAX = 2**63 - 1


@dataclass
class Moments:
    """What is known of values that are in no histogram."""

    count: int = 0
    min: int | None = None
    max: int | None = None
    sum: float = 0.0
    sum_of_squares: float = 0.0

    def add(self, proto: results_pb2.ValueMoments) -> None:
        """Adds further values; ResultError if they contradict themselves."""
        _check_moments(proto)
        if proto.count == 0:
            return
        self.count += proto.count
        self.min = proto.min if self.min is None else min(self.min, proto.min)
        self.max = proto.max if self.max is None else max(self.max, proto.max)
        self.sum += proto.sum
        self.sum_of_squares += proto.sum_of_squares

    def encode(self, proto: results_pb2.ValueMoments) -> None:
        proto.count = self.count
        proto.sum = self.sum
        proto.sum_of_squares = self.sum_of_squares
        if self.min is not None and self.max is not None:
            proto.min = self.min
            proto.max = self.max


@dataclass
class RpcTotals:
    """The sum of any number of RpcStatistics (proto/results.proto)."""

    succeeded: int = 0
    failed: int = 0
    warmup: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    dropped_samples: int = 0

    # Unix nanoseconds; None if no RPC succeeded.
    first_start_ns: int | None = None
    last_end_ns: int | None = None

    # Keyed by "service_time", "response_time", "lateness" and TIME_PARTS.
    histograms: dict[str, Histogram] = field(default_factory=dict)

    # Values that are in no histogram; keyed by the first three of these.
    moments: dict[str, Moments] = field(default_factory=dict)

    # Keyed by the index into the client's error dictionary, so it means nothing
    # once statistics of several clients were added.
    failures_by_error: dict[int, int] = field(default_factory=dict)

    @property
    def duration_ns(self) -> int:
        """From the first send to the last end; 0 if no RPC succeeded."""
        if self.first_start_ns is None or self.last_end_ns is None:
            return 0
        return max(0, self.last_end_ns - self.first_start_ns)

    def histogram(self, name: str) -> Histogram:
        """Returns an empty histogram if there are no values."""
        return self.histograms.get(name) or Histogram()

    def add(self, statistics: results_pb2.RpcStatistics) -> None:
        """Adds the statistics of further RPCs.

        Raises:
            ResultError: they contradict themselves; nothing was added.
        """
        decoded = _decode_histograms(statistics)
        moments = _decode_moments(statistics)
        _check_counts(statistics)
        self._add_counts(statistics)
        for name, histogram in decoded.items():
            self.histograms.setdefault(name, Histogram()).merge(histogram)
        for name, values in moments.items():
            self.moments.setdefault(name, Moments()).add(values)
        for index, count in statistics.failures_by_error.items():
            self.failures_by_error[index] = (
                self.failures_by_error.get(index, 0) + count
            )

    def add_counts_of(self, other: "RpcTotals") -> None:
        """Adds counts and times, but no latencies and no causes."""
        self.succeeded += other.succeeded
        self.failed += other.failed
        self.warmup += other.warmup
        self.request_bytes += other.request_bytes
        self.response_bytes += other.response_bytes
        self.dropped_samples += other.dropped_samples
        self._extend(other.first_start_ns, other.last_end_ns)

    def encode(self) -> results_pb2.RpcStatistics:
        """Returns the sum as results have it."""
        proto = results_pb2.RpcStatistics(
            succeeded_count=saturated(self.succeeded),
            failed_count=saturated(self.failed),
            warmup_count=saturated(self.warmup),
            request_bytes=saturated(self.request_bytes),
            response_bytes=saturated(self.response_bytes),
            dropped_sample_count=saturated(self.dropped_samples),
        )
        if self.first_start_ns is not None and self.last_end_ns is not None:
            proto.first_start_timestamp_ns = self.first_start_ns
            proto.last_end_timestamp_ns = self.last_end_ns
        for name, histogram in self.histograms.items():
            if histogram.count > 0:
                getattr(proto, name + "_ns").CopyFrom(histogram.to_proto())
        for name, moments in self.moments.items():
            if moments.count > 0:
                moments.encode(getattr(proto, name + "_moments"))
        for index, count in self.failures_by_error.items():
            proto.failures_by_error[index] = saturated(count)
        return proto

    def _add_counts(self, statistics: results_pb2.RpcStatistics) -> None:
        self.succeeded += statistics.succeeded_count
        self.failed += statistics.failed_count
        self.warmup += statistics.warmup_count
        self.request_bytes += statistics.request_bytes
        self.response_bytes += statistics.response_bytes
        self.dropped_samples += statistics.dropped_sample_count
        if statistics.HasField("first_start_timestamp_ns") and statistics.HasField(
            "last_end_timestamp_ns"
        ):
            self._extend(
                statistics.first_start_timestamp_ns,
                statistics.last_end_timestamp_ns,
            )

    def _extend(self, first_start_ns: int | None, last_end_ns: int | None) -> None:
        if first_start_ns is None or last_end_ns is None:
            return
        if self.first_start_ns is None or self.last_end_ns is None:
            self.first_start_ns, self.last_end_ns = first_start_ns, last_end_ns
            return
        self.first_start_ns = min(self.first_start_ns, first_start_ns)
        self.last_end_ns = max(self.last_end_ns, last_end_ns)


def per_second(amount: float, duration_ns: int) -> float:
    """Returns a rate; 0 if the duration is 0."""
    return amount * 1e9 / duration_ns if duration_ns > 0 else 0.0


def statistics_from_samples(
    log: results_pb2.RpcPerformanceLog,
) -> results_pb2.RpcStatistics:
    """Returns the totals of a log's samples, for results of older tools that
    have nothing else."""
    totals = RpcTotals()
    for sample in log.successful_rpc_samples:
        if sample.warmup:
            totals.warmup += 1
        else:
            _add_succeeded(sample, totals)
    for sample in log.failed_rpc_samples:
        if sample.warmup:
            totals.warmup += 1
            continue
        totals.failed += 1
        causes = totals.failures_by_error
        causes[sample.error_index] = causes.get(sample.error_index, 0) + 1
    return totals.encode()


def _add_succeeded(sample: results_pb2.RpcSample, totals: RpcTotals) -> None:
    totals.succeeded += 1
    totals.request_bytes += sample.request_size
    totals.response_bytes += sample.response_size
    start_ns = sample.start_timestamp_ns
    totals._extend(start_ns, saturated(start_ns + sample.latency_ns))
    values = {"service_time": sample.latency_ns}
    if sample.HasField("server_queue_ns") and sample.HasField("server_handler_ns"):
        values["server_queue"] = sample.server_queue_ns
        values["server_handler"] = sample.server_handler_ns
        values["network"] = (
            sample.latency_ns - sample.server_queue_ns - sample.server_handler_ns
        )
    if sample.HasField("lateness_ns"):
        values["lateness"] = sample.lateness_ns
        values["response_time"] = saturated(sample.lateness_ns + sample.latency_ns)
    for name, value in values.items():
        totals.histograms.setdefault(name, Histogram()).record(value)


def _decode_histograms(
    statistics: results_pb2.RpcStatistics,
) -> dict[str, Histogram]:
    decoded = {}
    for name in (*_LATENCIES, *TIME_PARTS):
        if statistics.HasField(name + "_ns"):
            try:
                decoded[name] = Histogram.from_proto(
                    getattr(statistics, name + "_ns")
                )
            except ResultError as error:
                raise ResultError(f"{name}_ns: {error}") from None
    return decoded


def _decode_moments(
    statistics: results_pb2.RpcStatistics,
) -> dict[str, results_pb2.ValueMoments]:
    decoded = {}
    for name in _LATENCIES:
        if statistics.HasField(name + "_moments"):
            decoded[name] = getattr(statistics, name + "_moments")
            _check_moments(decoded[name])
    return decoded


def _check_counts(statistics: results_pb2.RpcStatistics) -> None:
    _check_not_negative(
        (
            statistics.succeeded_count,
            statistics.failed_count,
            statistics.warmup_count,
            statistics.request_bytes,
            statistics.response_bytes,
            statistics.dropped_sample_count,
            statistics.first_start_timestamp_ns,
            statistics.last_end_timestamp_ns,
            *statistics.failures_by_error.values(),
        )
    )


def _check_not_negative(numbers: Iterable[int]) -> None:
    least = min(numbers)
    if least < 0:
        raise ResultError(
            f"statistics hold {least}, but all their numbers are at least 0"
        )


def _check_moments(proto: results_pb2.ValueMoments) -> None:
    has_values = proto.count > 0
    consistent = (
        proto.count >= 0
        and proto.HasField("min") == has_values
        and proto.HasField("max") == has_values
        and 0 <= proto.min <= proto.max
        and all(
            math.isfinite(total) and total >= 0
            for total in (proto.sum, proto.sum_of_squares)
        )
    )
    if not consistent:
        raise ResultError(
            f"moments of {proto.count} values with a min of {proto.min}, a max "
            f"of {proto.max}, a sum of {proto.sum} and a sum of squares of "
            f"{proto.sum_of_squares} contradict themselves"
        )


def saturated(number: int) -> int:
    """Returns the number or, if it has more than 64 bits, the closest that has
    not: as C++ adds."""
    return max(-_INT64_MAX - 1, min(number, _INT64_MAX))
