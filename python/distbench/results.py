"""Results: runs and searches read from files, or fetched from a sequencer."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from distbench import _rows, result_files
from distbench._proto import results_pb2
from distbench.errors import ResultError
from distbench.runs import RpcMeasurements, Run, add_up
from distbench.tables import (
    COLUMNS,
    Cell,
    Column,
    Curve,
    Row,
    Table,
    TableName,
    curve_label,
)

if TYPE_CHECKING:
    import pandas

_ROWS_OF_RUN: dict[str, Callable[[Run], Iterator[Row]]] = {
    "runs": _rows.run_rows,
    "findings": _rows.finding_rows,
    "rpcs": _rows.rpc_rows,
    "percentiles": _rows.percentile_rows,
    "peers": _rows.peer_rows,
    "seconds": _rows.second_rows,
    "samples": _rows.sample_rows,
    "resources": _rows.resource_rows,
    "faults": _rows.fault_rows,
}

# Tables that only distbench itself makes.
_REPORT_TABLES = (
    "time_parts",
    "streams",
    "policies",
    "goodput",
    "recoveries",
    "activities",
    "activity_series",
    "cpus",
    "groups",
    "connections",
)


class Results:
    """Any number of results, which may come from several files.

    `a + b` are the results of both.
    """

    def __init__(
        self, sourced: Iterable[tuple[str, results_pb2.TestSequenceResults]] = ()
    ) -> None:
        """Takes pairs of a source, such as a file name, and a message."""
        self._sourced = list(sourced)
        self._runs = [
            Run(source, position, result)
            for source, message in self._sourced
            for position, result in enumerate(message.test_results)
        ]

    def __add__(self, other: "Results") -> "Results":
        return Results([*self._sourced, *other._sourced])

    def __repr__(self) -> str:
        return f"Results({len(self._runs)} runs, {len(self._searches())} searches)"

    @property
    def runs(self) -> Sequence[Run]:
        """The runs, in the order of the results."""
        return self._runs

    def only(self, *tests: str) -> "Results":
        """Returns the results of these tests, without searches; KeyError lists
        the tests that there are."""
        names = {run.test for run in self._runs}
        for test in tests:
            if test not in names:
                known = ", ".join(sorted(names))
                raise KeyError(f"there is no test {test!r}; there are {known}")
        chosen = [run for run in self._runs if run.test in tests]
        results = Results(
            (run.source, results_pb2.TestSequenceResults(test_results=[run.result]))
            for run in chosen
        )
        # With what they have added up, and the names of tests without a name.
        results._runs = chosen
        return results

    def added_up(self) -> dict[str, dict[str, RpcMeasurements]]:
        """Returns all runs of each test together, by test and RPC; see
        distbench.runs.add_up().

        Raises:
            ValueError: a test has real and simulated runs.
        """
        for test in {run.test for run in self._runs}:
            if len({run.simulated for run in self._runs if run.test == test}) > 1:
                raise ValueError(
                    f"{test} has real and simulated runs, which are not added up; "
                    "read their files apart"
                )
        parts: dict[str, dict[str, list[RpcMeasurements]]] = {}
        for run in self._runs:
            rpcs = parts.setdefault(run.test, {})
            for rpc in run.rpcs:
                rpcs.setdefault(rpc.name, []).append(rpc)
        return {
            test: {name: add_up(found) for name, found in rpcs.items()}
            for test, rpcs in parts.items()
        }

    def table(self, name: TableName) -> Table:
        """Returns a table; docs/python.md lists them and their columns.

        Raises:
            ValueError: there is no such table; lists those that there are.
            ResultError: a result is damaged.
        """
        columns = _columns(name)
        try:
            return Table(name, columns, list(self._rows(name)))
        except (TypeError, ValueError) as error:
            # From protobuf, for names that are not UTF-8.
            raise ResultError(
                f'a result is damaged, so there is no table "{name}": {error}'
            ) from error

    def frame(self, name: TableName) -> "pandas.DataFrame":
        """Returns a table as a pandas frame; see table()."""
        return self.table(name).frame()

    def curves(self) -> list[Curve]:
        """Returns the distribution of the latency of each RPC of each run."""
        return [
            Curve(
                curve_label(run.test, run.repetition, rpc.name, run.simulated),
                run.test,
                rpc.name,
                rpc.latency.count,
                rpc.latency.curve(),
            )
            for run in self._runs
            for rpc in run.rpcs
            if rpc.latency.count > 0
        ]

    def write(self, path: str | os.PathLike[str], *, text: bool = False) -> None:
        """Writes all results into one file, as distbench reads it: binary or
        text, compressed if the name ends in ".gz". Sources are not kept.

        Raises:
            ValueError: there are several results of numa_compare, of which a
                file can hold only one.
        """
        merged = results_pb2.TestSequenceResults()
        comparisons = [m for _, m in self._sourced if m.HasField("numa_comparison")]
        if len(comparisons) > 1:
            raise ValueError(
                f"{len(comparisons)} of these results are of numa_compare, and a "
                "file can hold only one; write them into files of their own"
            )
        for _, message in self._sourced:
            merged.MergeFrom(message)
        result_files.write_file(merged, path, text=text)

    def _searches(self) -> list[tuple[str, int, results_pb2.SearchReport]]:
        return [
            (source, position, report)
            for source, message in self._sourced
            for position, report in enumerate(message.searches)
        ]

    def _rows(self, name: str) -> Iterator[Row]:
        if name == "searches":
            for source, position, report in self._searches():
                yield (source, *_rows.search_row(report, position), report.simulated)
        elif name == "probes":
            for source, position, report in self._searches():
                for row in _rows.probe_rows(report, position):
                    yield (source, *row, report.simulated)
        else:
            for run in self._runs:
                run_cells: tuple[Cell, ...] = (run.source, run.test, run.repetition)
                for row in _ROWS_OF_RUN[name](run):
                    yield (*run_cells, *row, run.simulated)


def read_results(*paths: str | os.PathLike[str]) -> Results:
    """Reads result files, and all results (*.pb and *.pb.gz) in folders.

    Raises:
        OSError: a file cannot be read.
        ResultError: a file is not a result; names the file and the problem. Or
            no file is given.
    """
    if not paths:
        raise ResultError("no result is given, of which there must be at least one")
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            files += result_files.result_files_in(path)
        else:
            files.append(os.fspath(path))
    return Results((file, result_files.read_file(file)) for file in files)


def _columns(name: str) -> tuple[Column, ...]:
    if name in _REPORT_TABLES:
        raise ValueError(
            f'the table "{name}" is only in reports: read the output of '
            "distbench report FILE --format=json with distbench.read_report()"
        )
    if name not in COLUMNS:
        raise ValueError(
            f'there is no table "{name}"; there are {", ".join(COLUMNS)}'
        )
    return COLUMNS[name]
