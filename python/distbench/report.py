"""Reports that `distbench report --format=json` wrote: the same tables as
results have, without samples and without histograms."""

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from distbench.errors import ResultError
from distbench.histogram import CurvePoint
from distbench.tables import (
    COLUMNS,
    LATENCY_NAMES,
    PERCENTILE_NAMES,
    RUN_COLUMNS,
    SIMULATED_COLUMN,
    Cell,
    Column,
    Curve,
    Kind,
    Row,
    Table,
    curve_label,
)

if TYPE_CHECKING:
    import pandas

# The version of the schema that docs/reports.md describes. Later versions of
# distbench only add fields as long as it is the same.
_SCHEMA = "distbench report"
_SCHEMA_VERSION = 1

# Tables that the JSON has as such, in addition to those of results.
_JSON_TABLES = (
    "time_parts",
    "streams",
    "policies",
    "goodput",
    "recoveries",
    "peers",
    "seconds",
    "activities",
    "activity_series",
    "resources",
    "cpus",
    "groups",
    "connections",
)
_OTHER_TABLES = tuple(name for name in _JSON_TABLES if name not in COLUMNS)

_LATENCY_KEYS = ("service_time", "response_time", "lateness")

# Columns with texts in the tables that only the JSON has.
_TEXT_COLUMNS = frozenset(
    (
        "rpc",
        "fault",
        "outcome",
        "part",
        "instance",
        "activity",
        "node",
        "local_address",
        "peer_address",
        "congestion_control",
    )
)

_Json = dict[str, Any]


class Report:
    """Reports, which may come from several files. `a + b` are both.

    Attributes:
        documents: the JSON documents.
    """

    def __init__(self, documents: Iterable[_Json]) -> None:
        """Takes documents as json.load() returns them.

        Raises:
            ResultError: a document is not a report of this version.
        """
        self.documents = list(documents)
        for document in self.documents:
            _check_schema(document)

    def __add__(self, other: "Report") -> "Report":
        return Report([*self.documents, *other.documents])

    def __repr__(self) -> str:
        return f"Report({len(self._tests())} runs, {len(self._searches())} searches)"

    def table(self, name: str) -> Table:
        """Returns a table; docs/python.md lists them and their columns.

        Raises:
            ValueError: reports have no such table; lists those that they have.
            ResultError: a report lacks a part.
        """
        with _naming_what_is_missing():
            return self._table(name)

    def _table(self, name: str) -> Table:
        if name == "searches":
            return Table(name, COLUMNS[name], self._search_rows())
        if name == "probes":
            return Table(name, COLUMNS[name], self._probe_rows())
        if name in _OTHER_TABLES:
            return self._other_table(name)
        if name not in COLUMNS or name == "samples":
            known = [known for known in COLUMNS if known != "samples"]
            raise ValueError(
                f'reports have no table "{name}"; they have '
                f"{', '.join([*known, *_OTHER_TABLES])}. Samples are in result "
                "files, which distbench.read_results() reads"
            )
        rows = [
            (*_run_cells(test), *row, _is_simulated(test))
            for test in self._tests()
            for row in _rows_of_test(name, test)
        ]
        return Table(name, COLUMNS[name], rows)

    def frame(self, name: str) -> "pandas.DataFrame":
        """Returns a table as a pandas frame; see table()."""
        return self.table(name).frame()

    def curves(self) -> list[Curve]:
        """Returns the distribution of the latency of each RPC of each run.

        Raises:
            ResultError: a report lacks a part.
        """
        with _naming_what_is_missing():
            return self._curves()

    def _curves(self) -> list[Curve]:
        curves = []
        for test in self._tests():
            for rpc in test["rpcs"]:
                latency = rpc["response_time"] or rpc["service_time"]
                if latency is None:
                    continue
                points = [CurvePoint(*point) for point in latency["distribution"]]
                label = curve_label(
                    test["name"],
                    test["repetition"],
                    rpc["name"],
                    _is_simulated(test),
                )
                count = latency["count"]
                curves.append(
                    Curve(label, test["name"], rpc["name"], count, points)
                )
        return curves

    def _tests(self) -> list[_Json]:
        return [test for document in self.documents for test in document["tests"]]

    def _searches(self) -> list[tuple[int, _Json]]:
        """The searches, with their positions among those of their source."""
        found = []
        positions: dict[str, int] = {}
        for document in self.documents:
            for search in document.get("searches", []):
                position = positions.get(search["source"], 0)
                positions[search["source"]] = position + 1
                found.append((position, search))
        return found

    def _search_rows(self) -> list[Row]:
        return [
            (
                search["source"],
                position,
                "; ".join(search["objectives"]),
                search["knob"],
                search["load_unit"],
                search["verdict"],
                search["evidence"],
                search["load"],
                search["min_load"],
                search["max_load"],
                search["confidence_level"],
                search["is_proven"],
                search["finds_lowest"],
                search["tolerance"],
                _is_simulated(search),
            )
            for position, search in self._searches()
        ]

    def _probe_rows(self) -> list[Row]:
        return [
            (search["source"], position, *_probe_cells(probe), _is_simulated(search))
            for position, search in self._searches()
            for probe in search["probes"]
        ]

    def _other_table(self, name: str) -> Table:
        tests = [test for test in self._tests() if name in test]
        names = tests[0][name]["columns"] if tests else []
        columns = (
            *RUN_COLUMNS,
            *(_column(column) for column in names),
            SIMULATED_COLUMN,
        )
        rows = [
            (*_run_cells(test), *map(_cell, row), _is_simulated(test))
            for test in tests
            for row in test[name]["rows"]
        ]
        return Table(name, columns, rows)


def read_report(*paths: str | os.PathLike[str]) -> Report:
    """Reads the output of `distbench report FILE --format=json`.

    Raises:
        OSError: a file cannot be read.
        ResultError: a file is not such a report; names the file. Or no file is
            given.
    """
    if not paths:
        raise ResultError("no report is given, of which there must be at least one")
    documents = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            _check_schema(document)
        except (ResultError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ResultError(
                f"cannot read {os.fspath(path)}: {error}; expected the output of "
                "distbench report FILE --format=json (distbench.read_results() "
                "reads result files themselves)"
            ) from None
        documents.append(document)
    return Report(documents)


@contextlib.contextmanager
def _naming_what_is_missing() -> Iterator[None]:
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ResultError(
            f"a report is damaged ({error!r}); write it again with distbench "
            "report FILE --format=json"
        ) from error


def _check_schema(document: object) -> None:
    if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
        raise ResultError("it is not a report of distbench")
    version = document.get("schema_version")
    if version != _SCHEMA_VERSION:
        raise ResultError(
            f"it has schema_version {version}, and this package reads "
            f"{_SCHEMA_VERSION}; install the package of distbench "
            f"{document.get('distbench_version')}"
        )
    if not isinstance(document.get("tests"), list):
        raise ResultError("it has no list of tests, so it is damaged")


def _run_cells(test: _Json) -> Row:
    return (test["source"], test["name"], test["repetition"])


def _is_simulated(test_or_search: _Json) -> bool:
    """Reports of versions that did not simulate do not say."""
    return bool(test_or_search.get("simulated", False))


def _rows_of_test(name: str, test: _Json) -> Iterator[Row]:
    if name == "runs":
        yield _run_row(test)
    elif name == "findings":
        for finding in test["findings"]:
            yield (finding["severity"], finding["code"], finding["message"])
    elif name == "rpcs":
        for rpc in test["rpcs"]:
            yield _rpc_row(rpc)
    elif name == "percentiles":
        for rpc in test["rpcs"]:
            yield from _percentile_rows(rpc)
    else:
        columns = [column.name for column in COLUMNS[name][len(RUN_COLUMNS) : -1]]
        yield from _select(test[name], columns)


def _select(table: _Json, columns: list[str]) -> Iterator[Row]:
    """Rows of a table of the JSON, with the columns that this version knows."""
    places = {column: i for i, column in enumerate(table["columns"])}
    for row in table["rows"]:
        yield tuple(
            _cell(row[places[column]]) if column in places else None
            for column in columns
        )


def _run_row(test: _Json) -> Row:
    run, totals = test["run"], test["totals"]
    return (
        test["verdict"],
        test["failure"],
        run["version"],
        run["revision"],
        run["random_seed"],
        run["config_hash"],
        run["start_timestamp_ns"],
        run["end_timestamp_ns"],
        totals["succeeded_count"],
        totals["failed_count"],
        totals["warmup_count"],
        totals["request_bytes"],
        totals["response_bytes"],
        totals["duration_ns"] / 1e9,
    )


def _rpc_row(rpc: _Json) -> Row:
    load = rpc["offered_load"] or {}
    cells: list[Cell] = [
        rpc["name"],
        rpc["succeeded_count"],
        rpc["failed_count"],
        rpc["warmup_count"],
        rpc["request_bytes"],
        rpc["response_bytes"],
        rpc["duration_ns"] / 1e9,
        rpc["per_second"],
        load.get("offered_count"),
        load.get("unsent_count"),
        load.get("held_back_count"),
        rpc["dropped_sample_count"],
    ]
    for key in _LATENCY_KEYS:
        latency = rpc[key] or {}
        values = {
            percentile["percentile"]: _cell(percentile["value_ns"])
            for percentile in latency.get("percentiles", [])
        }
        cells += [latency.get("min_ns"), latency.get("mean_ns")]
        cells += [values.get(percent) for percent in PERCENTILE_NAMES]
        cells.append(latency.get("max_ns"))
    return tuple(cells)


def _percentile_rows(rpc: _Json) -> Iterator[Row]:
    for name, key in zip(LATENCY_NAMES, _LATENCY_KEYS):
        for percentile in (rpc[key] or {}).get("percentiles", []):
            yield (
                rpc["name"],
                name,
                percentile["percentile"],
                _cell(percentile["value_ns"]),
                _cell(percentile["lower_ns"]),
                _cell(percentile["upper_ns"]),
                percentile["method"],
            )


def _probe_cells(probe: _Json) -> Row:
    statistics = probe["statistics"]
    latency = statistics["latency"] or {}
    return (
        probe["number"],
        probe["phase"],
        probe["outcome"],
        probe["requested_load"],
        probe["achieved_load"],
        "; ".join(probe["measured"]),
        probe["start_timestamp_ns"],
        probe["end_timestamp_ns"],
        statistics["succeeded_count"],
        statistics["failed_count"],
        statistics["per_second"],
        *(
            _cell(latency.get(key))
            for key in ("mean_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns")
        ),
        probe["host_cpu_share"],
    )


def _column(name: str) -> Column:
    if name in _TEXT_COLUMNS:
        return Column(name, Kind.TEXT)
    if name.endswith("_timestamp_ns"):
        return Column(name, Kind.INTEGER)
    return Column(name, Kind.NUMBER)


def _cell(cell: Cell) -> Cell:
    return math.inf if cell == "failed" else cell
