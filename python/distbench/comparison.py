# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Compares two groups of runs, RPC by RPC, by `distbench compare`
(docs/reports.md)."""

import os
import tempfile
from collections.abc import Iterable, Iterator

from distbench._program import Json, PathLike, Program
from distbench.errors import ResultError
from distbench.results import Results
from distbench.tables import Row, Table

_COLUMNS = (
    "test rpc latency metric verdict base new change lower upper base_runs new_runs "
    "reason change_is simulated".split()
)


def compare(
    base: Results,
    new: Results,
    *,
    metrics: Iterable[str] | None = None,
    allow_different_traffic: bool = False,
    program: PathLike | None = None,
) -> Table:
    """Compares each RPC of each test, and what the test reads of servers, with a
    row for each metric.

    Runs of the same test are its repetitions; if each side has a single test,
    the two are compared whatever their names. `base` and `new` are the means
    over the runs: geometric for latencies (ns) and rates (per second),
    arithmetic for "failures" (a share from 0 to 1). `change` is new / base; for
    failures, new - base. `lower` and `upper` are its confidence interval at
    95 %, by Welch over the runs, and need two runs in each group.

    What is read of servers has no `rpc` and no `latency`. If it is a share, or
    one of its values is not above 0, its means are arithmetic, and its `change`
    is a difference, as `change_is` says ("ratio" or "difference").

    `verdict` is "better", "worse", "differs" (of what has no better direction),
    "no difference" (none was shown; there may be one), "not shown" (without an
    interval) or "not comparable", for the `reason`. `simulated` says which group
    is: "base", "new", "both" or None.

    Args:
        metrics: only these, such as "p50", "p99.9", "mean", "rate", "failures".
        allow_different_traffic: compare even if the tests send different
            traffic.
        program: see read_results().

    Raises:
        ResultError: a metric is not among those that are compared; lists them.
        ResultError: a side has no runs, or was read from reports, without the
            results themselves.
        ProgramError: the program is missing.
    """
    found = Program(program)
    with tempfile.TemporaryDirectory(prefix="distbench.") as folder:
        paths = []
        for name, results in (("base", base), ("new", new)):
            if not results.runs:
                raise ResultError(f"{name} has no runs to compare")
            paths.append(os.path.join(folder, f"{name}.pb"))
            results.write(paths[-1])
        document = found.compare(
            *paths, allow_different_traffic=allow_different_traffic
        )
    rows = [
        (*row, _simulated_groups(test, base, new))
        for test in document["tests"]
        for row in _rows(test)
    ]
    if metrics is not None:
        rows = _only(list(metrics), rows)
    return Table("comparison", _COLUMNS, rows)


def _rows(test: Json) -> Iterator[Row]:
    runs = (test["base_runs"], test["new_runs"])
    nothing = (None,) * 5
    if test["not_comparable"] is not None:
        verdict = ("not comparable", *nothing, *runs, test["not_comparable"], None)
        yield (test["name"], None, None, None, *verdict)
    groups = [(rpc["name"], rpc["latency"], rpc["metrics"]) for rpc in test["rpcs"]]
    for name, latency, metrics in [*groups, (None, None, test["metrics"])]:
        for metric in metrics:
            yield (
                test["name"],
                name,
                latency,
                metric["metric"],
                metric["verdict"],
                metric["base"],
                metric["new"],
                metric["change"],
                metric["lower"],
                metric["upper"],
                *runs,
                metric["reason"],
                metric["change_is"],
            )


def _only(metrics: list[str], rows: list[Row]) -> list[Row]:
    """Rows of tests that are not compared have no metric, and stay."""
    place = _COLUMNS.index("metric")
    known = dict.fromkeys(str(row[place]) for row in rows if row[place] is not None)
    for metric in metrics:
        if known and metric not in known:
            raise ResultError(
                f'"{metric}" is not a metric that is compared; these are '
                f"{', '.join(known)}"
            )
    return [row for row in rows if row[place] is None or row[place] in metrics]


def _simulated_groups(test: Json, base: Results, new: Results) -> str | None:
    names = [
        name
        for name, results in (("base", base), ("new", new))
        if any(
            run.simulated for run in results.runs if run.test == test[f"{name}_name"]
        )
    ]
    return "both" if len(names) == 2 else names[0] if names else None
