# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The tables of results: those that reports have as such, those that are made of
a report's objects, and samples."""

from collections.abc import Callable, Iterator, Sequence

from google.protobuf.message import Message

from distbench import result_files
from distbench._program import Json
from distbench._proto import results_pb2
from distbench.errors import ResultError
from distbench.runs import (
    PERCENTILE_NAMES,
    Latency,
    RpcMeasurements,
    Run,
    with_failures,
)
from distbench.tables import Cell, Row, Table

# The columns with which each row of a table about runs begins, and the one with
# which it ends: nothing of a simulated run was measured.
_RUN_COLUMNS = ("source", "test", "repetition")
_SEARCH_COLUMNS = ("source", "search")
_SIMULATED_COLUMN = "simulated"

# As columns call them.
_LATENCIES = ("service", "response", "lateness", "wire")

_COUNTS = ("succeeded", "failed", "warmup", "request_bytes", "response_bytes")

_PROBE_LATENCIES = "mean_ns p50_ns p90_ns p95_ns p99_ns p999_ns"


def table(name: str, runs: Sequence[Run], searches: Sequence[Json]) -> Table:
    """Returns a table; ValueError lists those that there are."""
    if name in _TABLES_OF_SEARCHES:
        return _table_of_searches(name, searches)
    if name in _TABLES_OF_RUNS:
        columns, rows_of = _TABLES_OF_RUNS[name]
        return _table_of_runs(name, columns, runs, rows_of)
    in_reports = dict.fromkeys(
        key for run in runs for key, part in run.report.items() if _is_table(part)
    )
    # Without runs, nothing tells which tables there are, and they are empty.
    if runs and name not in in_reports:
        known = ", ".join([*_TABLES_OF_RUNS, *_TABLES_OF_SEARCHES, *in_reports])
        raise ResultError(f'there is no table "{name}"; there are {known}')
    return _table_of_reports(name, runs)


def _table_of_runs(
    name: str,
    columns: Sequence[str],
    runs: Sequence[Run],
    rows_of: Callable[[Run], Iterator[Row]],
) -> Table:
    rows = [
        (run.source, run.test, run.repetition, *row, run.simulated)
        for run in runs
        for row in rows_of(run)
    ]
    return Table(name, (*_RUN_COLUMNS, *columns, _SIMULATED_COLUMN), rows)


def _table_of_searches(name: str, searches: Sequence[Json]) -> Table:
    """Searches are known by their positions among those of their source."""
    columns, rows_of = _TABLES_OF_SEARCHES[name]
    rows = []
    counts: dict[str, int] = {}
    for search in searches:
        source = search["source"]
        position = counts.get(source, 0)
        counts[source] = position + 1
        simulated = search.get(_SIMULATED_COLUMN, False)
        rows += [(source, position, *row, simulated) for row in rows_of(search)]
    return Table(name, (*_SEARCH_COLUMNS, *columns, _SIMULATED_COLUMN), rows)


def _table_of_reports(name: str, runs: Sequence[Run]) -> Table:
    """Reports of other versions may lack the table or some of its columns."""
    having = [run for run in runs if name in run.report]
    columns = list(
        dict.fromkeys(
            column for run in having for column in run.report[name]["columns"]
        )
    )

    def rows_of(run: Run) -> Iterator[Row]:
        part = run.report[name]
        for row in part["rows"]:
            cells = with_failures(dict(zip(part["columns"], row)))
            yield tuple(cells.get(column) for column in columns)

    return _table_of_runs(name, columns, having, rows_of)


def _is_table(part: object) -> bool:
    return isinstance(part, dict) and "columns" in part and "rows" in part


def _run_rows(run: Run) -> Iterator[Row]:
    totals = run.report["totals"]
    yield (
        run.verdict,
        run.failure,
        *_cells(run.report["run"], "version revision random_seed config_hash"),
        *_cells(run.report["run"], "start_timestamp_ns end_timestamp_ns"),
        *_cells(totals, "succeeded_count failed_count warmup_count"),
        *_cells(totals, "request_bytes response_bytes"),
        totals["duration_ns"] / 1e9,
    )


def _finding_rows(run: Run) -> Iterator[Row]:
    for finding in run.findings:
        yield (finding.severity, finding.code, finding.message)


def _latencies(rpc: RpcMeasurements) -> tuple[Latency, ...]:
    return (rpc.service_time, rpc.response_time, rpc.lateness, rpc.wire_time)


def _rpc_rows(run: Run) -> Iterator[Row]:
    for rpc in run.rpcs:
        load = rpc.offered
        cells: list[Cell] = [
            rpc.name,
            *(getattr(rpc, count) for count in _COUNTS),
            rpc.duration_ns / 1e9,
            rpc.per_second,
            *((load.offered, load.unsent, load.held_back) if load else (None,) * 3),
            rpc.dropped_samples,
        ]
        for latency in _latencies(rpc):
            cells += [latency.min_ns, latency.mean_ns]
            cells += [latency.percentile_ns(percent) for percent in PERCENTILE_NAMES]
            cells.append(latency.max_ns)
        yield tuple(cells)


def _percentile_rows(run: Run) -> Iterator[Row]:
    for rpc in run.rpcs:
        for name, latency in zip(_LATENCIES, _latencies(rpc)):
            for found in latency.percentiles():
                yield (
                    rpc.name,
                    name,
                    found.percent,
                    found.value_ns,
                    found.lower_ns,
                    found.upper_ns,
                    found.method,
                )


def _sample_rows(run: Run) -> Iterator[Row]:
    result = run.result
    try:
        for rpc in result_files.rpc_logs(result):
            for sample in rpc.log.successful_rpc_samples:
                yield _sample_row(rpc, sample, None)
            for sample in rpc.log.failed_rpc_samples:
                cause = result_files.error_message(rpc.errors, sample.error_index)
                yield _sample_row(rpc, sample, cause)
    except (TypeError, ValueError) as error:
        # protobuf decodes names when they are used.
        raise ResultError(
            f"{run.source} is damaged: a name in it is not UTF-8: {error}"
        ) from error


def _sample_row(
    rpc: result_files.RpcLog, sample: results_pb2.RpcSample, cause: str | None
) -> Row:
    return (
        rpc.client,
        rpc.server,
        rpc.rpc,
        sample.start_timestamp_ns,
        sample.latency_ns,
        *_fields(sample, "lateness_ns"),
        sample.request_size,
        sample.response_size,
        sample.warmup,
        *_fields(sample, "server_instance"),
        cause,
        *_fields(sample, "server_queue_ns server_handler_ns"),
        *_fields(sample, "wire_time_ns wire_shared"),
    )


def _search_rows(search: Json) -> Iterator[Row]:
    yield (
        "; ".join(search["objectives"]),
        *_cells(search, "knob load_unit verdict evidence load min_load max_load"),
        *_cells(search, "confidence_level is_proven finds_lowest tolerance"),
    )


def _probe_rows(search: Json) -> Iterator[Row]:
    for probe in search["probes"]:
        statistics = probe["statistics"]
        latency = with_failures(statistics["latency"] or {})
        yield (
            *_cells(probe, "number phase outcome requested_load achieved_load"),
            "; ".join(probe["measured"]),
            *_cells(probe, "start_timestamp_ns end_timestamp_ns"),
            *_cells(statistics, "succeeded_count failed_count per_second"),
            *(latency.get(name) for name in _PROBE_LATENCIES.split()),
            probe["host_cpu_share"],
        )


def _cells(part: Json, names: str) -> Row:
    return tuple(part[name] for name in names.split())


def _fields(message: Message, names: str) -> Row:
    """Returns fields of a message, None for those that are absent."""
    return tuple(
        getattr(message, name) if message.HasField(name) else None
        for name in names.split()
    )


# The columns and the rows of a run.
_TABLES_OF_RUNS: dict[str, tuple[Sequence[str], Callable[[Run], Iterator[Row]]]] = {
    "runs": (
        "verdict failure version revision random_seed config_hash "
        "start_timestamp_ns end_timestamp_ns".split() + [*_COUNTS, "duration_s"],
        _run_rows,
    ),
    "findings": ("severity code message".split(), _finding_rows),
    "rpcs": (
        ["rpc", *_COUNTS]
        + "duration_s per_second offered unsent held_back dropped_samples".split()
        + [
            f"{latency}_{value}_ns"
            for latency in _LATENCIES
            for value in ("min", "mean", *PERCENTILE_NAMES.values(), "max")
        ],
        _rpc_rows,
    ),
    "percentiles": (
        "rpc latency percentile value_ns lower_ns upper_ns method".split(),
        _percentile_rows,
    ),
    "samples": (
        "client server rpc start_timestamp_ns service_time_ns lateness_ns "
        "request_bytes response_bytes warmup server_instance error "
        "server_queue_ns server_handler_ns wire_time_ns wire_shared".split(),
        _sample_rows,
    ),
}

# The columns and the rows of a search.
_TABLES_OF_SEARCHES: dict[
    str, tuple[Sequence[str], Callable[[Json], Iterator[Row]]]
] = {
    "searches": (
        "objectives knob load_unit verdict evidence load min_load max_load "
        "confidence_level is_proven finds_lowest tolerance".split(),
        _search_rows,
    ),
    "probes": (
        "number phase outcome requested_load achieved_load measured "
        "start_timestamp_ns end_timestamp_ns succeeded failed per_second "
        f"{_PROBE_LATENCIES} host_cpu_share".split(),
        _probe_rows,
    ),
}
