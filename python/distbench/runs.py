"""Runs of tests: their RPCs, verdicts and findings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from distbench import _walk
from distbench._proto import results_pb2
from distbench._totals import RpcTotals, per_second
from distbench.errors import ResultError
from distbench.histogram import Histogram
from distbench.outcomes import Latency, Outcomes
from distbench.series import Series, collect_series


@dataclass(frozen=True)
class OfferedLoad:
    """What open loops were asked to send, without the warm-up: how many RPCs;
    how many of them were never sent; and how many iterations an in-flight cap
    delayed."""

    offered: int
    unsent: int
    held_back: int


@dataclass
class RpcMeasurements:
    """All measurements of one RPC in one run, or added up over several.

    Attributes:
        name: of the RPC.
        succeeded, failed, warmup: counts; all others exclude the warm-up.
        request_bytes, response_bytes: of RPCs that succeeded.
        dropped_samples: RPCs of which no sample was kept.
        duration_ns: from the first send to the last response.
        offered: None in closed loops.
        service_time: from the actual send to the response.
        response_time: from when each RPC was due; empty in closed loops.
        lateness: from when each RPC was due until it was sent; likewise.
        failures: counts of failed RPCs by cause.
        series: the RPC over time, warm-up included, of each run.
    """

    name: str
    succeeded: int = 0
    failed: int = 0
    warmup: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    dropped_samples: int = 0
    duration_ns: int = 0
    offered: OfferedLoad | None = None
    service_time: Latency = field(default_factory=Latency)
    response_time: Latency = field(default_factory=Latency)
    lateness: Latency = field(default_factory=Latency)
    failures: dict[str, int] = field(default_factory=dict)
    series: Sequence[Series] = ()

    @property
    def per_second(self) -> float:
        """The rate of RPCs that succeeded."""
        return per_second(self.succeeded, self.duration_ns)

    @property
    def latency(self) -> Latency:
        """The latency that a caller experiences: response times in open loops,
        otherwise service times."""
        return self.response_time if self.response_time.count > 0 else self.service_time


@dataclass(frozen=True)
class Finding:
    """A conclusion that distbench drew about a run.

    Attributes:
        severity: "invalid" (the numbers are false), "warn" or "note".
        code: a stable identifier, such as "node_lost".
        message: what was found, what it means and what to do.
    """

    severity: str
    code: str
    message: str


_SEVERITIES = {
    results_pb2.Finding.INVALID: "invalid",
    results_pb2.Finding.WARN: "warn",
}


class Run:
    """One run of one test.

    Attributes:
        source: the file that it was read from, or the sequencer and the run.
        test: the test's name; "tests[INDEX]" if it has none.
        repetition: which run of the test it is, from 0, if it was repeated.
        simulated: whether its hosts were simulated, so that nothing was measured.
        result: the message TestResult of proto/results.proto.
    """

    def __init__(
        self, source: str, position: int, result: results_pb2.TestResult
    ) -> None:
        self.source = source
        self.test = result.traffic_config.name or f"tests[{position}]"
        self.repetition = result.run_info.repetition
        self.simulated = result.HasField("simulation")
        self.result = result
        self._rpcs: list[RpcMeasurements] | None = None
        self._damaged: list[str] = []

    def __repr__(self) -> str:
        mark = ", simulated=True" if self.simulated else ""
        return (
            f"Run({self.source!r}, {self.test!r}, "
            f"repetition={self.repetition}{mark})"
        )

    @property
    def rpcs(self) -> list[RpcMeasurements]:
        """The RPCs in the order of the config."""
        return self._load()

    def rpc(self, name: str) -> RpcMeasurements:
        """Returns an RPC by its name; KeyError lists the names."""
        for rpc in self.rpcs:
            if rpc.name == name:
                return rpc
        names = ", ".join(rpc.name for rpc in self.rpcs)
        raise KeyError(f"{self.test} has no RPC {name!r}; it has {names}")

    @property
    def failure(self) -> str | None:
        """Why the run did not complete; None if it did."""
        info = self.result.run_info
        return info.failure if info.HasField("failure") else None

    @property
    def findings(self) -> list[Finding]:
        """What distbench found out about the run, the worst first."""
        self._load()
        found = [
            Finding("invalid", "damaged_logs", f"a log is left out: {problem}")
            for problem in self._damaged
        ]
        by_severity = sorted(
            self.result.run_info.findings, key=lambda f: f.severity, reverse=True
        )
        for finding in by_severity:
            severity = _SEVERITIES.get(finding.severity, "note")
            found.append(Finding(severity, finding.code, finding.message))
        return found

    @property
    def verdict(self) -> str:
        """The worst that applies of "failed" (it did not complete), "invalid"
        (its numbers are false), "warn" and "ok"."""
        if self.failure is not None:
            return "failed"
        findings = self.findings
        if not findings or findings[0].severity == "note":
            return "ok"
        return findings[0].severity

    def traffic_totals(self) -> tuple[RpcTotals, int]:
        """Returns the counts of all RPCs together, and the longest duration of
        the traffic of a pair of instances, in nanoseconds."""
        totals = RpcTotals()
        pairs: dict[tuple[str, str], RpcTotals] = {}
        for view in _walk.rpc_logs(self.result):
            log = RpcTotals()
            log.add(view.log.statistics)
            totals.add_counts_of(log)
            pair = pairs.setdefault((view.client, view.server), RpcTotals())
            pair.add_counts_of(log)
        pooled = self._pooled()
        for part in pooled:
            totals.add_counts_of(part)
        durations = [part.duration_ns for part in (*pairs.values(), *pooled)]
        return totals, max(durations, default=0)

    def _load(self) -> list[RpcMeasurements]:
        """Adds up the logs when they are first needed, and notes the damaged
        ones."""
        if self._rpcs is None:
            self._rpcs = self._add_up()
        return self._rpcs

    def _pooled(self) -> list[RpcTotals]:
        """The pooled statistics that are consistent."""
        found = []
        for log in self.result.service_logs.instance_logs.values():
            for statistics in log.pooled_statistics.values():
                totals = RpcTotals()
                try:
                    totals.add(statistics)
                except ResultError:
                    continue
                found.append(totals)
        return found

    def _add_up(self) -> list[RpcMeasurements]:
        totals: dict[str, RpcTotals] = {}
        failures: dict[str, dict[str, int]] = {}
        for view in _walk.rpc_logs(self.result):
            totals.setdefault(view.rpc, RpcTotals()).add(view.log.statistics)
            _add_failures(view, failures.setdefault(view.rpc, {}))
        self._add_pooled(totals, failures)
        return [
            _measurements(
                self.result,
                index,
                totals.get(name, RpcTotals()),
                failures.get(name, {}),
            )
            for index in _walk.rpc_indices(self.result)
            for name in [_walk.rpc_name(self.result, index)]
        ]

    def _add_pooled(
        self, totals: dict[str, RpcTotals], failures: dict[str, dict[str, int]]
    ) -> None:
        """Adds what the clients kept for all servers of an RPC together."""
        for client, log in self.result.service_logs.instance_logs.items():
            for index, statistics in log.pooled_statistics.items():
                name = _walk.rpc_name(self.result, index)
                try:
                    totals.setdefault(name, RpcTotals()).add(statistics)
                except ResultError as error:
                    self._damaged.append(f"{name} from {client}: {error}")
                    continue
                if statistics.failed_count > 0:
                    causes = failures.setdefault(name, {})
                    cause = _walk.error_message(results_pb2.ErrorDictionary(), 0)
                    causes[cause] = causes.get(cause, 0) + statistics.failed_count


def add_up(measurements: Sequence[RpcMeasurements]) -> RpcMeasurements:
    """Adds up an RPC over several runs, such as the repetitions of a test.

    Counts and histograms add up exactly, and durations too, so that the rate is
    that of all runs together. The intervals of percentiles take the spread
    between the runs into account.

    Raises:
        ValueError: there are no measurements, or they are of different RPCs.
    """
    names = {rpc.name for rpc in measurements}
    if len(names) != 1:
        raise ValueError(
            f"measurements of exactly one RPC can be added up, not of {sorted(names)}"
        )
    total = RpcMeasurements(names.pop())
    for rpc in measurements:
        total.succeeded += rpc.succeeded
        total.failed += rpc.failed
        total.warmup += rpc.warmup
        total.request_bytes += rpc.request_bytes
        total.response_bytes += rpc.response_bytes
        total.dropped_samples += rpc.dropped_samples
        total.duration_ns += rpc.duration_ns
        for cause, count in rpc.failures.items():
            total.failures[cause] = total.failures.get(cause, 0) + count
    loads = [rpc.offered for rpc in measurements if rpc.offered is not None]
    if loads:
        total.offered = OfferedLoad(
            sum(load.offered for load in loads),
            sum(load.unsent for load in loads),
            sum(load.held_back for load in loads),
        )
    total.service_time = _add_latencies([rpc.service_time for rpc in measurements])
    total.response_time = _add_latencies([rpc.response_time for rpc in measurements])
    total.lateness = _add_latencies([rpc.lateness for rpc in measurements])
    total.series = [series for rpc in measurements for series in rpc.series]
    return total


def _add_latencies(latencies: Sequence[Latency]) -> Latency:
    total = Outcomes()
    for latency in latencies:
        total.merge(latency.outcomes)
    return Latency(total, [part for each in latencies for part in each.consecutive])


def _add_failures(view: _walk.RpcLog, causes: dict[str, int]) -> None:
    statistics = view.log.statistics
    without_cause = statistics.failed_count
    for index, count in sorted(statistics.failures_by_error.items()):
        cause = _walk.error_message(view.errors, index)
        causes[cause] = causes.get(cause, 0) + count
        without_cause -= count
    if without_cause > 0:
        cause = _walk.error_message(view.errors, 0)
        causes[cause] = causes.get(cause, 0) + without_cause


def _measurements(
    result: results_pb2.TestResult,
    index: int,
    totals: RpcTotals,
    failures: dict[str, int],
) -> RpcMeasurements:
    name = _walk.rpc_name(result, index)
    series = collect_series(result, index)
    offered = _offered_load(result, name)
    measured = series.measured()
    return RpcMeasurements(
        name=name,
        succeeded=totals.succeeded,
        failed=totals.failed,
        warmup=totals.warmup,
        request_bytes=totals.request_bytes,
        response_bytes=totals.response_bytes,
        dropped_samples=totals.dropped_samples,
        duration_ns=totals.duration_ns,
        offered=offered,
        service_time=Latency(
            Outcomes(totals.histogram("service_time"), totals.failed),
            [interval.service_time() for interval in measured],
        ),
        response_time=Latency(
            _response_time(totals, offered),
            [interval.response_time() for interval in measured],
        ),
        lateness=Latency(Outcomes(totals.histogram("lateness"))),
        failures=dict(sorted(failures.items())),
        series=[series],
    )


def _response_time(totals: RpcTotals, offered: OfferedLoad | None) -> Outcomes:
    outcomes = Outcomes(totals.histogram("response_time"))
    if outcomes.count > 0 or (offered is not None and offered.offered > 0):
        outcomes.failed_count = _open_loop_failures(
            offered, outcomes.count, totals.failed
        )
    return outcomes


def _open_loop_failures(
    offered: OfferedLoad | None, succeeded: int, failed: int
) -> int:
    """Counts what was due and did not succeed once, as OpenLoopFailures() in C++."""
    if offered is None:
        return failed
    most = failed + offered.unsent
    if offered.offered == 0:
        return most
    return min(max(offered.offered - succeeded, offered.unsent), most)


def _offered_load(result: results_pb2.TestResult, name: str) -> OfferedLoad | None:
    loads = [
        load
        for log in result.service_logs.instance_logs.values()
        for index, load in log.offered_loads.items()
        if _walk.rpc_name(result, index) == name
    ]
    if not loads:
        return None
    valid = [load for load in loads if _is_valid(load)]
    return OfferedLoad(
        sum(load.offered_count for load in valid),
        sum(load.unsent_count for load in valid),
        sum(load.held_back_count for load in valid),
    )


def _is_valid(load: results_pb2.OfferedLoad) -> bool:
    if min(load.offered_count, load.unsent_count, load.held_back_count) < 0:
        return False
    try:
        if load.HasField("unsent_wait_ns"):
            Histogram.from_proto(load.unsent_wait_ns)
    except ResultError:
        return False
    return True
