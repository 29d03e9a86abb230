"""Compares two groups of runs, RPC by RPC, with the methods of `distbench
compare` (docs/reports.md)."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from distbench._distributions import student_t_quantile
from distbench._proto import traffic_config_pb2
from distbench.histogram import SUB_BUCKET_BITS
from distbench.outcomes import CONFIDENCE, Latency
from distbench.results import Results
from distbench.runs import RpcMeasurements, Run
from distbench.tables import Kind, Row, Table, columns_of

DEFAULT_METRICS = ("p50", "p90", "p99", "p99.9", "mean", "rate", "failures")

# Two latencies in one bucket of a histogram may differ by this share.
_LATENCY_RESOLUTION = 2.0**-SUB_BUCKET_BITS

# Means are not trustworthy if more than this share failed.
_ALLOWED_FAILURES = 0.001

# Set by distbench ab_test: the number of its runs depends on their outcome, so
# that these intervals would be too narrow.
_UNTIL_DECIDED = "until_decided"

_COLUMNS = (
    *columns_of(Kind.TEXT, "test rpc latency metric verdict"),
    *columns_of(Kind.NUMBER, "base new change lower upper"),
    *columns_of(Kind.INTEGER, "base_runs new_runs"),
    *columns_of(Kind.TEXT, "reason simulated"),
)

# Parts of a config that are no traffic: what is sent and when stays the same.
_NO_TRAFFIC = (
    "name",
    "attributes",
    "random_seed",
    "objectives",
    "requirements",
    "experiment",
    "sample_memory_bytes",
    "recording_memory_bytes",
    "node_service_bundles",
    "service_constraints",
    "default_protocol",
    "protocol_driver_options",
    "workers_per_instance",
    "delay_actions_by_spinning",
    "overload_limits",
    "controls",
)


class Change(NamedTuple):
    """A difference or a ratio of means with its confidence interval, which is
    absent if a group has a single run."""

    estimate: float
    lower: float | None
    upper: float | None


class _NotComparable(Exception):
    """The reason why something is not compared."""


@dataclass(frozen=True)
class _Metric:
    name: str
    value: Callable[[RpcMeasurements, Latency], float]

    # Latencies and rates are compared by their ratio; shares of failures, which
    # are often 0, by their difference.
    by_ratio: bool = True
    higher_is_better: bool = False
    resolution: float = 0.0


def compare(
    base: Results,
    new: Results,
    *,
    metrics: Iterable[str] = DEFAULT_METRICS,
    allow_different_traffic: bool = False,
) -> Table:
    """Compares each RPC of each test, with a row for each metric.

    Runs of the same test are its repetitions; if each side has a single test,
    the two are compared whatever their names. `base` and `new` are the means
    over the runs: geometric for latencies (ns) and rates (per second),
    arithmetic for "failures" (a share from 0 to 1). `change` is new / base; for
    failures, new - base. `lower` and `upper` are its confidence interval at
    95 %, by Welch over the runs, and need two runs in each group.

    `verdict` is "better", "worse", "no difference" (none was shown; there may
    be one), "not shown" (without an interval) or "not comparable", for the
    `reason`. `simulated` says which group is: "base", "new", "both" or None.

    Args:
        metrics: percentiles such as "p99.9", "mean", "rate", "failures".
        allow_different_traffic: compare even if the tests send different
            traffic.

    Raises:
        ValueError: a metric is unknown.
    """
    parsed = [_parse_metric(name) for name in metrics]
    rows: list[Row] = []
    for test, base_runs, new_runs in _pairs(base, new):
        counts = (len(base_runs), len(new_runs))
        try:
            _check_comparable(base_runs, new_runs, allow_different_traffic)
        except _NotComparable as why:
            of_test = [_not_comparable(test, None, None, None, counts, str(why))]
        else:
            of_test = _compare_rpcs(test, base_runs, new_runs, parsed)
        simulated = _simulated_groups(base_runs, new_runs)
        rows += [(*row, simulated) for row in of_test]
    return Table("comparison", _COLUMNS, rows)


def difference_of_means(base: Sequence[float], new: Sequence[float]) -> Change:
    """Returns mean(new) - mean(base) with the interval of B. L. Welch,
    Biometrika 34 (1947) 28-35. Neither group may be empty."""
    estimate = _mean(new) - _mean(base)
    if len(base) < 2 or len(new) < 2:
        return Change(estimate, None, None)
    base_variance = _variance_of_mean(base)
    new_variance = _variance_of_mean(new)
    variance = base_variance + new_variance
    half_width = 0.0
    if variance > 0:
        degrees_of_freedom = variance**2 / (
            base_variance**2 / (len(base) - 1) + new_variance**2 / (len(new) - 1)
        )
        half_width = student_t_quantile(
            (1 + CONFIDENCE) / 2, degrees_of_freedom
        ) * math.sqrt(variance)
    return Change(estimate, estimate - half_width, estimate + half_width)


def ratio_of_means(base: Sequence[float], new: Sequence[float]) -> Change:
    """Returns the ratio of the geometric means, with its interval. All values
    must be positive."""
    change = difference_of_means(
        [math.log(value) for value in base], [math.log(value) for value in new]
    )
    if change.lower is None or change.upper is None:
        return Change(math.exp(change.estimate), None, None)
    return Change(
        math.exp(change.estimate), math.exp(change.lower), math.exp(change.upper)
    )


def _pairs(base: Results, new: Results) -> list[tuple[str, list[Run], list[Run]]]:
    """The runs of each test on both sides, in order of appearance."""
    base_runs, new_runs = _by_test(base), _by_test(new)
    if len(base_runs) == 1 and len(new_runs) == 1:
        (base_test, base_only), (new_test, new_only) = (
            next(iter(base_runs.items())),
            next(iter(new_runs.items())),
        )
        both = base_test if base_test == new_test else f"{base_test} and {new_test}"
        return [(both, base_only, new_only)]
    return [
        (test, base_runs.get(test, []), new_runs.get(test, []))
        for test in {**base_runs, **new_runs}
    ]


def _by_test(results: Results) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in results.runs:
        groups.setdefault(run.test, []).append(run)
    return groups


def _check_comparable(
    base: Sequence[Run], new: Sequence[Run], allow_different_traffic: bool
) -> None:
    if not base or not new:
        raise _NotComparable(f"it is in {'base' if base else 'new'} only")
    for group, runs in (("base", base), ("new", new)):
        for i, run in enumerate(runs):
            if run.verdict in ("failed", "invalid"):
                why = run.failure or run.findings[0].message
                raise _NotComparable(
                    f"run {i + 1} of {len(runs)} of {group} is {run.verdict}: {why}"
                )
            if _UNTIL_DECIDED in run.result.traffic_config.attributes:
                raise _NotComparable(
                    "its runs were repeated until they decided, which needs wider "
                    "intervals; use distbench compare"
                )
        if len({run.simulated for run in runs}) > 1:
            raise _NotComparable(
                f"{group} has real and simulated runs of it; give one kind only"
            )
        seeds = [run.result.run_info.random_seed for run in runs if run.simulated]
        if len(set(seeds)) < len(seeds):
            raise _NotComparable(
                f"{group} has simulated runs with the same seed, which are copies "
                "and no repeats; simulate each with its own (--seed)"
            )
    traffic = {_traffic_of(run) for run in (*base, *new)}
    if len(traffic) > 1 and not allow_different_traffic:
        raise _NotComparable(
            "the traffic differs; distbench compare says how, and "
            "allow_different_traffic=True compares all the same"
        )


def _simulated_groups(base: Sequence[Run], new: Sequence[Run]) -> str | None:
    names = [
        name
        for name, runs in (("base", base), ("new", new))
        if any(run.simulated for run in runs)
    ]
    return "both" if len(names) == 2 else names[0] if names else None


def _traffic_of(run: Run) -> bytes:
    config = traffic_config_pb2.DistributedSystemDescription()
    config.CopyFrom(run.result.traffic_config)
    for field in _NO_TRAFFIC:
        config.ClearField(field)
    for service in config.services:
        service.ClearField("protocol_driver_options_name")
    return config.SerializeToString(deterministic=True)


def _compare_rpcs(
    test: str, base: Sequence[Run], new: Sequence[Run], metrics: Sequence[_Metric]
) -> list[Row]:
    base_rpcs, new_rpcs = _by_rpc(base), _by_rpc(new)
    rows: list[Row] = []
    for name in sorted({*base_rpcs, *new_rpcs}):
        in_base, in_new = base_rpcs.get(name, []), new_rpcs.get(name, [])
        counts = (len(in_base), len(in_new))
        if not in_base or not in_new:
            reason = f"it is in {'base' if in_base else 'new'} only"
            rows.append(_not_comparable(test, name, None, None, counts, reason))
            continue
        rows += [
            _compare_metric(test, metric, in_base, in_new) for metric in metrics
        ]
    return rows


def _by_rpc(runs: Iterable[Run]) -> dict[str, list[RpcMeasurements]]:
    rpcs: dict[str, list[RpcMeasurements]] = {}
    for run in runs:
        for rpc in run.rpcs:
            rpcs.setdefault(rpc.name, []).append(rpc)
    return rpcs


def _compare_metric(
    test: str,
    metric: _Metric,
    base: Sequence[RpcMeasurements],
    new: Sequence[RpcMeasurements],
) -> Row:
    by_response = all(rpc.response_time.count > 0 for rpc in (*base, *new))
    latency = "response time" if by_response else "service time"
    counts = (len(base), len(new))
    name = base[0].name
    try:
        base_values = _values("base", metric, base, by_response)
        new_values = _values("new", metric, new, by_response)
    except _NotComparable as why:
        return _not_comparable(test, name, latency, metric.name, counts, str(why))
    if metric.by_ratio:
        change = ratio_of_means(base_values, new_values)
        centers = (_geometric_mean(base_values), _geometric_mean(new_values))
    else:
        change = difference_of_means(base_values, new_values)
        centers = (_mean(base_values), _mean(new_values))
    verdict = _judge(metric, change)
    return (test, name, latency, metric.name, verdict, *centers, *change, *counts, None)


def _values(
    group: str,
    metric: _Metric,
    rpcs: Sequence[RpcMeasurements],
    by_response: bool,
) -> list[float]:
    values = []
    for i, rpc in enumerate(rpcs):
        try:
            latency = rpc.response_time if by_response else rpc.service_time
            values.append(metric.value(rpc, latency))
        except _NotComparable as why:
            raise _NotComparable(
                f"{why} in run {i + 1} of {len(rpcs)} of {group}"
            ) from None
    return values


def _not_comparable(
    test: str,
    rpc: str | None,
    latency: str | None,
    metric: str | None,
    counts: tuple[int, int],
    reason: str,
) -> Row:
    nothing: Row = (None,) * 5
    return (test, rpc, latency, metric, "not comparable", *nothing, *counts, reason)


def _judge(metric: _Metric, change: Change) -> str:
    if change.lower is None or change.upper is None:
        return "not shown"
    no_change = 1.0 if metric.by_ratio else 0.0
    is_shown = change.lower > no_change or change.upper < no_change
    if not is_shown or abs(change.estimate - no_change) <= metric.resolution:
        return "no difference"
    is_higher = change.estimate > no_change
    return "better" if is_higher == metric.higher_is_better else "worse"


def _parse_metric(name: str) -> _Metric:
    if name == "mean":
        return _Metric(name, _mean_latency)
    if name == "rate":
        return _Metric(name, _rate, higher_is_better=True)
    if name == "failures":
        return _Metric(name, _failed_share, by_ratio=False)
    try:
        percent = float(name.removeprefix("p"))
    except ValueError:
        percent = math.nan
    if not (name.startswith("p") and 0 < percent < 100):
        raise ValueError(
            f'"{name}" is not a metric: these are percentiles such as p50 or '
            "p99.9, mean, rate and failures"
        )

    def percentile(_: RpcMeasurements, latency: Latency) -> float:
        value = latency.percentile_ns(percent)
        if value == math.inf:
            raise _too_many_failed(latency)
        return _positive(value)

    return _Metric(name, percentile, resolution=_LATENCY_RESOLUTION)


def _mean_latency(_: RpcMeasurements, latency: Latency) -> float:
    if latency.outcomes.failed_share > _ALLOWED_FAILURES:
        raise _too_many_failed(latency)
    return _positive(latency.mean_ns)


def _rate(rpc: RpcMeasurements, latency: Latency) -> float:
    if rpc.per_second == 0 and latency.outcomes.failed_count > 0:
        raise _too_many_failed(latency)
    return _positive(rpc.per_second)


def _failed_share(_: RpcMeasurements, latency: Latency) -> float:
    if latency.count == 0:
        raise _NotComparable("too few RPCs")
    return latency.outcomes.failed_share


def _positive(value: float | None) -> float:
    if value is None or value <= 0:
        raise _NotComparable("too few RPCs")
    return value


def _too_many_failed(latency: Latency) -> _NotComparable:
    percent = 100 * latency.outcomes.failed_share
    return _NotComparable(f"{percent:.3g}% of the RPCs failed")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(_mean([math.log(value) for value in values]))


def _variance_of_mean(values: Sequence[float]) -> float:
    mean = _mean(values)
    squares = sum((value - mean) ** 2 for value in values)
    return squares / (len(values) - 1) / len(values)
