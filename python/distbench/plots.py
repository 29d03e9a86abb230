# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Plots of results with matplotlib.

Each function draws into the axes `ax`, or into those of a new figure, and
returns the axes. Nothing is shown or saved:

    ax = distbench.plots.latency_curves(results)
    ax.figure.savefig("curves.png")
"""

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from distbench._optional import import_optional
from distbench.errors import ResultError
from distbench.results import Results
from distbench.tables import Curve

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MS_PER_NS = 1e-6

# Percentiles at the ticks of latency_curves().
_TICK_PERCENTS = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999)


def latency_curves(
    results: Results,
    *,
    rpcs: Collection[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws the latency at each percentile, with a line for each RPC of each run.

    The axis of percentiles is stretched towards the maximum: each step divides
    the share of slower requests by ten. Failed requests rank above all
    latencies, so a line ends at the share of those that succeeded.

    Args:
        results: what to draw.
        rpcs: only these RPCs.
        ax: the axes.
    """
    axes = _axes(ax)
    shown = [
        curve
        for curve in results.curves()
        if curve.points and (rpcs is None or curve.rpc in rpcs)
    ]
    _check_any(shown, "latencies", rpcs)
    for curve in shown:
        positions, latencies = _points(curve)
        axes.plot(positions, latencies, label=curve.label, drawstyle="steps-post")
    largest = max(curve.count for curve in shown)
    # Up to where one request is above.
    ticks = [p for p in _TICK_PERCENTS if largest * (100 - p) > 99]
    axes.set_xticks(
        [_position(percent / 100) for percent in ticks],
        [f"{percent:g}" for percent in ticks],
    )
    axes.set_xlabel("percentile")
    _scale_latencies(axes)
    _finish(axes)
    return axes


def over_time(
    results: Results,
    *,
    rpcs: Collection[str] | None = None,
    values: Sequence[str] = ("p50", "p99"),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws latencies of each second; seconds with warm-up are shaded.

    The latencies are response times where there are any (open loops), otherwise
    service times. A second in which the percentile falls among failures is a
    gap.

    Args:
        results: what to draw.
        rpcs: only these RPCs.
        values: of "p50", "p99" and "max".
        ax: the axes.
    """
    axes = _axes(ax)
    seconds = _only(results.frame("seconds"), rpcs)
    _check_any(seconds.index, "measurements over time", rpcs)
    start_ns = int(seconds["start_timestamp_ns"].min())
    for key, group in _by_run_and_rpc(seconds):
        times = (group["start_timestamp_ns"] - start_ns) * 1e-9
        kind = "response" if group["response_max_ns"].notna().any() else "service"
        for value in values:
            latencies = group[f"{kind}_{value}_ns"].replace(math.inf, math.nan)
            axes.plot(times, latencies * _MS_PER_NS, ".-", label=f"{key} {value}")
    _shade_warmup(axes, seconds, start_ns)
    axes.set_xlabel("time (s)")
    _scale_latencies(axes)
    _finish(axes)
    return axes


def over_load(
    results: Results,
    *,
    rpcs: Collection[str] | None = None,
    values: Sequence[str] = ("p50", "p99"),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws latencies over the achieved rate: a point for each run of a sweep,
    in the order of the rates, or for each probe of a search if there are any.

    Percentiles that fall among failures are left out; of them, `results` tell.

    Args:
        results: what to draw.
        rpcs: only these RPCs; searches know only that of their objective.
        values: of "mean", "p50", "p90", "p95" and "p99".
        ax: the axes.
    """
    axes = _axes(ax)
    probes = results.frame("probes")
    if len(probes) > 0:
        searches: Any = probes.groupby(["source", "search"], sort=False)
        for number, (_, group) in enumerate(searches, 1):
            _load_lines(axes, group, values, f"search {number}", "")
    else:
        runs = _only(results.frame("rpcs"), rpcs)
        _check_any(runs.index, "RPCs", rpcs)
        for name, group in runs.groupby("rpc", sort=False):
            open_loop = group["response_mean_ns"].notna().any()
            prefix = "response_" if open_loop else "service_"
            _load_lines(axes, group, values, str(name), prefix)
    axes.set_xlabel("achieved (per second)")
    _scale_latencies(axes)
    _finish(axes)
    return axes


def _load_lines(
    axes: "Axes",
    group: "pandas.DataFrame",
    values: Sequence[str],
    label: str,
    prefix: str,
) -> None:
    ordered = group.sort_values("per_second")
    for value in values:
        latencies = ordered[f"{prefix}{value}_ns"].replace(math.inf, math.nan)
        axes.plot(
            ordered["per_second"],
            latencies * _MS_PER_NS,
            "o-",
            label=f"{label} {value}",
        )


def _axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    pyplot = import_optional("matplotlib.pyplot", "plots", "a plot")
    axes: "Axes" = pyplot.subplots(layout="constrained")[1]
    return axes


def _scale_latencies(axes: "Axes") -> None:
    """Makes a logarithmic axis of milliseconds, with plain numbers."""
    from matplotlib.ticker import LogFormatter

    class PlainNumbers(LogFormatter):
        # The base leaves out the numbers for which there is no room.
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    axes.set_ylabel("latency (ms)")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(PlainNumbers())
    axes.yaxis.set_minor_formatter(PlainNumbers())


def _finish(axes: "Axes") -> None:
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="small")


def _check_any(found: Any, what: str, rpcs: Collection[str] | None) -> None:
    if len(found) == 0:
        of_rpcs = "" if rpcs is None else f" of {', '.join(rpcs)}"
        raise ResultError(f"there are no {what}{of_rpcs} to draw")


def _only(
    frame: "pandas.DataFrame", rpcs: Collection[str] | None
) -> "pandas.DataFrame":
    return frame if rpcs is None else frame[frame["rpc"].isin(list(rpcs))]


def _by_run_and_rpc(
    seconds: "pandas.DataFrame",
) -> "list[tuple[str, pandas.DataFrame]]":
    """Groups with a label; RPCs of several runs are told apart by their tests."""
    keys = ["source", "test", "repetition", "rpc"]
    groups: list[Any] = list(seconds.groupby(keys, sort=False))
    tests = {key[:3] for key, _ in groups}
    return [
        (
            str(key[3])
            if len(tests) == 1
            else f"{key[1]} #{int(key[2]) + 1}: {key[3]}",
            group,
        )
        for key, group in groups
    ]


def _shade_warmup(
    axes: "Axes", seconds: "pandas.DataFrame", start_ns: int
) -> None:
    warmup = seconds[seconds["warmup"] > 0]
    for time_ns, width in set(
        zip(warmup["start_timestamp_ns"], warmup["duration_s"])
    ):
        begin = (int(time_ns) - start_ns) * 1e-9
        axes.axvspan(begin, begin + float(width), color="0.9", zorder=0)


def _points(curve: Curve) -> tuple[list[float], list[float]]:
    """Positions on the stretched axis and latencies in milliseconds. A point is
    where the shares end that the next latency begins with."""
    positions = [0.0]
    latencies = []
    for point in curve.points:
        latencies.append(point.value * _MS_PER_NS)
        # Half a request short of all, which would be infinitely far away.
        share = min(point.count_at_most, curve.count - 0.5) / curve.count
        positions.append(_position(share))
    return positions, [*latencies, latencies[-1]]


def _position(share: float) -> float:
    return -math.log10(1 - share)
