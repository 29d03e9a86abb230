# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of measurements: named columns and rows of plain values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from distbench._optional import import_optional

if TYPE_CHECKING:
    import pandas

# None: the result has no such value. math.inf: the percentile falls among
# requests that failed.
Cell = str | int | float | None
Row = tuple[Cell, ...]

# A percentile that falls among requests that failed or were never sent. It is
# above every latency.
FAILED = math.inf

# Columns of texts, which may have no text at all.
_TEXTS = frozenset(
    "source test rpc latency method verdict failure version revision random_seed "
    "config_hash severity code message client server instance fault node activity "
    "part outcome local_address peer_address congestion_control error objectives "
    "knob load_unit evidence phase measured metric reason change_is".split()
)

# Columns of flags that may be absent.
_FLAGS = frozenset("is_proven finds_lowest".split())


@dataclass(frozen=True)
class Table:
    """Rows of a table, as plain Python values.

    Attributes:
        name: such as "rpcs".
        column_names: in order.
        rows: a tuple for each row, with a value for each column.
    """

    name: str
    column_names: Sequence[str]
    rows: Sequence[Row]

    def frame(self) -> "pandas.DataFrame":
        """Returns the table as a pandas frame.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        library = import_optional("pandas", "pandas", "a frame")
        columns = {}
        for i, name in enumerate(self.column_names):
            cells = [row[i] for row in self.rows]
            kind = _dtype(name, cells)
            if kind == "float64":
                cells = [math.nan if cell is None else cell for cell in cells]
            columns[name] = library.Series(cells, dtype=kind)
        frame: "pandas.DataFrame" = library.DataFrame(columns)
        return frame


def _dtype(name: str, cells: Sequence[Cell]) -> str:
    """How pandas keeps a column. Whole numbers of which some are absent are
    floats, except for timestamps, which are too long for these."""
    present = [cell for cell in cells if cell is not None]
    if name in _TEXTS or any(isinstance(cell, str) for cell in present):
        return "object"
    if name in _FLAGS or any(isinstance(cell, bool) for cell in present):
        return "boolean"
    if name.endswith("_timestamp_ns"):
        return "int64" if len(present) == len(cells) else "Int64"
    is_count = not name.endswith("_ns") and all(isinstance(cell, int) for cell in cells)
    return "int64" if is_count and cells else "float64"


class CurvePoint(NamedTuple):
    """A point of a cumulative distribution."""

    value: int

    # The exact number of values that are at most `value`.
    count_at_most: int


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
