"""Tables of measurements: named columns and rows of plain values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from distbench._optional import import_optional
from distbench._totals import saturated
from distbench.histogram import CurvePoint

if TYPE_CHECKING:
    import pandas

# None: the result has no such value. math.inf: the percentile falls among
# requests that failed.
Cell = str | int | float | None
Row = tuple[Cell, ...]


class Kind(Enum):
    """What a column holds, and how pandas keeps it."""

    TEXT = "text"

    # Always present: int64.
    INTEGER = "integer"

    # May be absent: Int64, because a float is too short for a timestamp.
    OPTIONAL_INTEGER = "optional integer"

    # float64; NaN where absent.
    NUMBER = "number"

    # May be absent: boolean.
    FLAG = "flag"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Table:
    """Rows of a table, as plain Python values.

    Attributes:
        name: such as "rpcs".
        columns: names and kinds.
        rows: a tuple for each row, with a value for each column.
    """

    name: str
    columns: tuple[Column, ...]
    rows: list[Row]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    def frame(self) -> "pandas.DataFrame":
        """Returns the table as a pandas frame.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        library = import_optional("pandas", "pandas", "a frame")
        columns = {
            column.name: library.Series(
                [_in_frame(row[i], column.kind) for row in self.rows],
                dtype=_DTYPES[column.kind],
            )
            for i, column in enumerate(self.columns)
        }
        frame: "pandas.DataFrame" = library.DataFrame(columns)
        return frame


_DTYPES = {
    Kind.TEXT: "object",
    Kind.INTEGER: "int64",
    Kind.OPTIONAL_INTEGER: "Int64",
    Kind.NUMBER: "float64",
    Kind.FLAG: "boolean",
}


def _in_frame(cell: Cell, kind: Kind) -> Cell:
    if isinstance(cell, int) and kind in (Kind.INTEGER, Kind.OPTIONAL_INTEGER):
        # Sums of damaged results may have more than the 64 bits of a column.
        return saturated(cell)
    return math.nan if cell is None and kind is Kind.NUMBER else cell


# The columns with which each row of a table about runs begins.
RUN_COLUMNS = (
    Column("source", Kind.TEXT),
    Column("test", Kind.TEXT),
    Column("repetition", Kind.INTEGER),
)

# The column with which each row ends: nothing of a simulated run was measured.
SIMULATED_COLUMN = Column("simulated", Kind.FLAG)


def columns_of(kind: Kind, names: str) -> tuple[Column, ...]:
    """Returns columns of one kind; `names` are separated by blanks."""
    return tuple(Column(name, kind) for name in names.split())


# Percentiles in the table "rpcs", by the part of a column's name.
PERCENTILE_NAMES = {
    50.0: "p50",
    75.0: "p75",
    90.0: "p90",
    95.0: "p95",
    99.0: "p99",
    99.9: "p99.9",
    99.99: "p99.99",
    99.999: "p99.999",
}
LATENCY_NAMES = ("service", "response", "lateness")

RPCS_COLUMNS = (
    *RUN_COLUMNS,
    Column("rpc", Kind.TEXT),
    *columns_of(
        Kind.INTEGER, "succeeded failed warmup request_bytes response_bytes"
    ),
    *columns_of(Kind.NUMBER, "duration_s per_second offered unsent held_back"),
    Column("dropped_samples", Kind.INTEGER),
    *(
        Column(f"{latency}_{value}_ns", Kind.NUMBER)
        for latency in LATENCY_NAMES
        for value in ("min", "mean", *PERCENTILE_NAMES.values(), "max")
    ),
    SIMULATED_COLUMN,
)

PERCENTILES_COLUMNS = (
    *RUN_COLUMNS,
    *columns_of(Kind.TEXT, "rpc latency"),
    *columns_of(Kind.NUMBER, "percentile value_ns lower_ns upper_ns"),
    Column("method", Kind.TEXT),
    SIMULATED_COLUMN,
)

RUNS_COLUMNS = (
    *RUN_COLUMNS,
    *columns_of(
        Kind.TEXT, "verdict failure version revision random_seed config_hash"
    ),
    *columns_of(Kind.OPTIONAL_INTEGER, "start_timestamp_ns end_timestamp_ns"),
    *columns_of(
        Kind.INTEGER, "succeeded failed warmup request_bytes response_bytes"
    ),
    Column("duration_s", Kind.NUMBER),
    SIMULATED_COLUMN,
)

FINDINGS_COLUMNS = (
    *RUN_COLUMNS,
    *columns_of(Kind.TEXT, "severity code message"),
    SIMULATED_COLUMN,
)

SECONDS_COLUMNS = (
    *RUN_COLUMNS,
    Column("rpc", Kind.TEXT),
    Column("start_timestamp_ns", Kind.INTEGER),
    Column("duration_s", Kind.NUMBER),
    *columns_of(
        Kind.INTEGER,
        "offered sent succeeded failed warmup request_bytes response_bytes",
    ),
    *columns_of(
        Kind.NUMBER,
        "service_p50_ns service_p99_ns service_max_ns "
        "response_p50_ns response_p99_ns response_max_ns",
    ),
    SIMULATED_COLUMN,
)

PEERS_COLUMNS = (
    *RUN_COLUMNS,
    *columns_of(Kind.TEXT, "client server rpc"),
    *columns_of(
        Kind.INTEGER, "succeeded failed warmup request_bytes response_bytes"
    ),
    *columns_of(Kind.NUMBER, "duration_s per_second"),
    *(
        Column(f"{part}_{value}_ns", Kind.NUMBER)
        for part in (
            "service",
            "response",
            "network",
            "server_queue",
            "server_handler",
        )
        for value in ("mean", "p50", "p99", "max")
    ),
    SIMULATED_COLUMN,
)

SAMPLES_COLUMNS = (
    *RUN_COLUMNS,
    *columns_of(Kind.TEXT, "client server rpc"),
    *columns_of(Kind.INTEGER, "start_timestamp_ns service_time_ns"),
    Column("lateness_ns", Kind.NUMBER),
    *columns_of(Kind.INTEGER, "request_bytes response_bytes"),
    Column("warmup", Kind.FLAG),
    Column("server_instance", Kind.NUMBER),
    Column("error", Kind.TEXT),
    *columns_of(Kind.NUMBER, "server_queue_ns server_handler_ns"),
    SIMULATED_COLUMN,
)

RESOURCES_COLUMNS = (
    *RUN_COLUMNS,
    Column("node", Kind.TEXT),
    Column("end_timestamp_ns", Kind.INTEGER),
    Column("duration_s", Kind.NUMBER),
    *columns_of(
        Kind.INTEGER,
        "process_cpu_ns host_cpu_ns resident_bytes host_available_memory_bytes "
        "voluntary_context_switches involuntary_context_switches "
        "network_received_bytes network_sent_bytes network_dropped_packets",
    ),
    *columns_of(
        Kind.NUMBER,
        "busiest_cpu_ns run_queue_delay_ns user_cpu_ns system_cpu_ns irq_cpu_ns "
        "softirq_cpu_ns steal_cpu_ns idle_cpu_ns iowait_cpu_ns throttled_count "
        "throttled_ns cpu_pressure_ns memory_pressure_ns io_pressure_ns "
        "tcp_sent_segments tcp_retransmitted_segments nice_cpu_ns "
        "data_connections data_sent_segments data_retransmitted_segments "
        "data_congestion_marked_segments data_mean_rtt_ns data_max_rtt_ns "
        "cycles instructions cache_references cache_misses package_energy_uj",
    ),
    SIMULATED_COLUMN,
)

SEARCHES_COLUMNS = (
    Column("source", Kind.TEXT),
    Column("search", Kind.INTEGER),
    *columns_of(Kind.TEXT, "objectives knob load_unit verdict evidence"),
    *columns_of(Kind.NUMBER, "load min_load max_load confidence_level"),
    Column("is_proven", Kind.FLAG),
    Column("finds_lowest", Kind.FLAG),
    Column("tolerance", Kind.NUMBER),
    SIMULATED_COLUMN,
)

PROBES_COLUMNS = (
    Column("source", Kind.TEXT),
    Column("search", Kind.INTEGER),
    Column("number", Kind.INTEGER),
    *columns_of(Kind.TEXT, "phase outcome"),
    *columns_of(Kind.NUMBER, "requested_load achieved_load"),
    Column("measured", Kind.TEXT),
    *columns_of(
        Kind.INTEGER, "start_timestamp_ns end_timestamp_ns succeeded failed"
    ),
    *columns_of(
        Kind.NUMBER,
        "per_second mean_ns p50_ns p90_ns p95_ns p99_ns p999_ns host_cpu_share",
    ),
    SIMULATED_COLUMN,
)

TableName = Literal[
    "runs",
    "findings",
    "rpcs",
    "percentiles",
    "peers",
    "seconds",
    "samples",
    "resources",
    "searches",
    "probes",
]

COLUMNS: dict[str, tuple[Column, ...]] = {
    "runs": RUNS_COLUMNS,
    "findings": FINDINGS_COLUMNS,
    "rpcs": RPCS_COLUMNS,
    "percentiles": PERCENTILES_COLUMNS,
    "peers": PEERS_COLUMNS,
    "seconds": SECONDS_COLUMNS,
    "samples": SAMPLES_COLUMNS,
    "resources": RESOURCES_COLUMNS,
    "searches": SEARCHES_COLUMNS,
    "probes": PROBES_COLUMNS,
}


@dataclass(frozen=True)
class Curve:
    """The cumulative distribution of a latency of one RPC in one run.

    Attributes:
        label: test, repetition and RPC, for the legend of a plot.
        test, rpc: their names.
        count: requests, including those that failed; `points` do not cover
            those.
        points: ascending; the last one is the maximum.
    """

    label: str
    test: str
    rpc: str
    count: int
    points: Sequence[CurvePoint]


def curve_label(test: str, repetition: int, rpc: str, simulated: bool) -> str:
    """Returns a label that tells runs of a test apart."""
    mark = " (simulated)" if simulated else ""
    run = f"{test}{mark} #{repetition + 1}" if repetition > 0 else f"{test}{mark}"
    return f"{run}: {rpc}"
