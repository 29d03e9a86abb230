"""One RPC over time, over all its clients, as
distbench/report/measurements/rpc_series.h adds it up."""

from dataclasses import dataclass, field

from distbench._proto import results_pb2
from distbench.errors import ResultError
from distbench.histogram import Histogram
from distbench.outcomes import Outcomes

_INT64_MAX = 2**63 - 1


@dataclass
class Interval:
    """What happened in one interval, warm-up included; the fields are those of
    RpcInterval (proto/results.proto)."""

    offered: int = 0
    sent: int = 0
    succeeded: int = 0
    failed: int = 0
    warmup: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    service_time_ns: Histogram = field(default_factory=Histogram)
    response_time_ns: Histogram = field(default_factory=Histogram)

    def service_time(self) -> Outcomes:
        """Returns the service times, and the failures above them."""
        return Outcomes(self.service_time_ns, self.failed)

    def response_time(self) -> Outcomes:
        """Returns the response times, and the failures above them."""
        return Outcomes(self.response_time_ns, self.failed)


@dataclass
class Series:
    """One RPC over time.

    Attributes:
        interval_ns: the width of an interval; 0 if nothing was recorded.
        intervals: those with events, ascending, by their number: each begins at
            that multiple of interval_ns of Unix time.
        left_out_count: client instances whose series could not be added.
    """

    interval_ns: int = 0
    intervals: dict[int, Interval] = field(default_factory=dict)
    left_out_count: int = 0

    def measured(self) -> list[Interval]:
        """Returns the intervals without any warm-up."""
        return [i for i in self.intervals.values() if i.warmup == 0]


def collect_series(result: results_pb2.TestResult, rpc_index: int) -> Series:
    """Adds up the clients' series, in intervals of the widest of them."""
    all_series = [
        log.rpc_time_series[rpc_index]
        for log in result.service_logs.instance_logs.values()
        if rpc_index in log.rpc_time_series
    ]
    decoded = [(proto.interval_ns, _decode(proto)) for proto in all_series]
    widest_ns = max((width for width, found in decoded if found is not None), default=0)
    series = Series(widest_ns)
    totals: dict[int, Interval] = {}
    for width, intervals in decoded:
        if intervals is None or widest_ns % width != 0:
            series.left_out_count += 1
            continue
        ratio = widest_ns // width
        for index, interval in intervals.items():
            _add(interval, totals.setdefault(index // ratio, Interval()))
    series.intervals = dict(sorted(totals.items()))
    return series


def _decode(proto: results_pb2.RpcTimeSeries) -> dict[int, Interval] | None:
    """Returns None for a series that contradicts itself."""
    if proto.interval_ns <= 0:
        return None
    decoded: dict[int, Interval] = {}
    previous = -1
    for interval in proto.intervals:
        if not previous < interval.index < _INT64_MAX // proto.interval_ns:
            return None
        previous = interval.index
        try:
            decoded[interval.index] = _decode_interval(interval)
        except ResultError:
            return None
    return decoded


def _decode_interval(proto: results_pb2.RpcInterval) -> Interval:
    counts = (
        proto.offered_count,
        proto.sent_count,
        proto.succeeded_count,
        proto.failed_count,
        proto.warmup_count,
        proto.request_bytes,
        proto.response_bytes,
    )
    if min(counts) < 0:
        raise ResultError(f"an interval holds {min(counts)}")
    interval = Interval(*counts)
    if proto.HasField("service_time_ns"):
        interval.service_time_ns = Histogram.from_proto(proto.service_time_ns)
    if proto.HasField("response_time_ns"):
        interval.response_time_ns = Histogram.from_proto(proto.response_time_ns)
    return interval


def _add(interval: Interval, total: Interval) -> None:
    total.offered += interval.offered
    total.sent += interval.sent
    total.succeeded += interval.succeeded
    total.failed += interval.failed
    total.warmup += interval.warmup
    total.request_bytes += interval.request_bytes
    total.response_bytes += interval.response_bytes
    total.service_time_ns.merge(interval.service_time_ns)
    total.response_time_ns.merge(interval.response_time_ns)
