# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Results: what distbench reports of runs and searches, as tables, and the
messages behind it."""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from distbench import _report_tables, result_files
from distbench._program import Json, PathLike, Program, package_version
from distbench._proto import results_pb2
from distbench.errors import ResultError, UnknownNameError
from distbench.runs import Run
from distbench.tables import Curve, Table

if TYPE_CHECKING:
    import pandas

# The schema that docs/reports.md describes. Later versions of distbench only add
# fields as long as its version is the same.
_SCHEMA = "distbench report"
_SCHEMA_VERSION = 2

# Reads the message of a result file, once.
ReadMessage = Callable[[], results_pb2.TestSequenceResults]


@dataclass(frozen=True)
class Part:
    """One report, and by their sources the files that it is of, if known."""

    document: Json
    files: Mapping[str, ReadMessage] = field(default_factory=dict)

    def runs(self) -> list[Run]:
        """Lists the runs. Those of a source are in the order of its file."""
        seen: Counter[str] = Counter()
        runs = []
        for test in self.document["tests"]:
            source = test["source"]
            read = None
            if source in self.files:
                read = partial(_test_result, self.files[source], seen[source])
            runs.append(Run(test, read))
            seen[source] += 1
        return runs

    def only(self, tests: Sequence[str]) -> "Part":
        """Returns the runs of these tests, without searches."""
        runs = [run for run in self.runs() if run.test in tests]
        reports = [run.report for run in runs]
        document = {**self.document, "tests": reports, "searches": []}
        files = {
            source: cache(
                partial(_message_of, [run for run in runs if run.source == source])
            )
            for source in self.files
        }
        return Part(document, files)


class Results:
    """Any number of results, which may come from several files. `a + b` are the
    results of both.

    Attributes:
        runs: the runs, in the order of the results.
    """

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """read_results(), read_report() and Client make results.

        Raises:
            ResultError: a document lacks a part.
        """
        self._parts = list(parts)
        with _naming_what_is_missing(self.documents):
            self.runs = [run for part in self._parts for run in part.runs()]

    def __add__(self, other: "Results") -> "Results":
        return Results([*self._parts, *other._parts])

    def __repr__(self) -> str:
        return f"Results({len(self.runs)} runs, {len(self._searches())} searches)"

    @property
    def documents(self) -> list[Json]:
        """All that distbench reports of them (docs/reports.md, "JSON")."""
        return [part.document for part in self._parts]

    def only(self, *tests: str) -> "Results":
        """Returns the results of these tests, without searches; KeyError lists
        the tests that there are."""
        names = {run.test for run in self.runs}
        for test in tests:
            if test not in names:
                known = ", ".join(sorted(names))
                raise UnknownNameError(f"there is no test {test!r}; there are {known}")
        return Results(part.only(tests) for part in self._parts)

    def table(self, name: str) -> Table:
        """Returns a table; docs/python.md lists them and their columns.

        Raises:
            ResultError: there is no such table; lists those that there are.
            ResultError: a report lacks a part or, for samples, was read without
                its result.
        """
        with _naming_what_is_missing(self.documents):
            return _report_tables.table(name, self.runs, self._searches())

    def frame(self, name: str) -> "pandas.DataFrame":
        """Returns a table as a pandas frame; see table()."""
        return self.table(name).frame()

    def curves(self) -> list[Curve]:
        """Returns the distribution of the latency of each RPC of each run."""
        return [
            Curve(
                f"{_label(run)}: {rpc.name}",
                run.test,
                rpc.name,
                rpc.latency.count,
                rpc.latency.curve(),
            )
            for run in self.runs
            for rpc in run.rpcs
            if rpc.latency.count > 0
        ]

    def write(self, path: PathLike, *, text: bool = False) -> None:
        """Writes all results into one file, as distbench reads it: binary or
        text, compressed if the name ends in ".gz". Sources are not kept.

        Raises:
            ResultError: some were read from reports, without their results.
            ResultError: there are several results of numa_compare, of which a
                file can hold only one.
        """
        for part in self._parts:
            if not part.files:
                raise ResultError(
                    "some of these results were read from reports, which cannot "
                    "be written as results; read the results themselves with "
                    "distbench.read_results()"
                )
        messages = [read() for part in self._parts for read in part.files.values()]
        comparisons = [m for m in messages if m.HasField("numa_comparison")]
        if len(comparisons) > 1:
            raise ResultError(
                f"{len(comparisons)} of these results are of numa_compare, and a "
                "file can hold only one; write them into files of their own"
            )
        merged = results_pb2.TestSequenceResults()
        for message in messages:
            merged.MergeFrom(message)
        result_files.write_file(merged, path, text=text)

    def _searches(self) -> list[Json]:
        return [
            search
            for document in self.documents
            for search in document.get("searches", [])
        ]


def read_results(*paths: PathLike, program: PathLike | None = None) -> Results:
    """Reads result files, and all results (*.pb and *.pb.gz) in folders, by the
    program distbench.

    Args:
        paths: the files and folders. A file that is given twice is read once.
        program: the program; otherwise that of the environment's DISTBENCH, or
            the one on PATH.

    Raises:
        OSError: a file cannot be read.
        ResultError: a file is not a result; names the file and the problem. Or
            no file is given.
        ProgramError: the program is missing.
    """
    if not paths:
        raise ResultError("no result is given, of which there must be at least one")
    names: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            names += result_files.result_files_in(path)
        else:
            names.append(os.fspath(path))
    files = {name: _read_file(name) for name in names}
    document = Program(program).report(files)
    _check_schema(document)
    return Results([Part(document, files)])


def read_report(*paths: PathLike) -> Results:
    """Reads the output of `distbench report FILE --format=json`, without that
    program. Such results have no samples, and cannot be written or compared.

    Raises:
        OSError: a file cannot be read.
        ResultError: a file is not such a report; names the file. Or no file is
            given.
    """
    if not paths:
        raise ResultError("no report is given, of which there must be at least one")
    parts = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            _check_schema(document)
        except ValueError as error:
            raise ResultError(
                f"cannot read {os.fspath(path)}: {error}; expected the output of "
                "distbench report FILE --format=json (distbench.read_results() "
                "reads result files themselves)"
            ) from None
        parts.append(Part(document))
    return Results(parts)


def results_from(path: PathLike, source: str, program: Program) -> Results:
    """Reads a result that is called after another source than its file, which may
    be removed afterwards."""
    with open(path, "rb") as file:
        contents = file.read()
    document = program.report([path])
    _check_schema(document)
    for part in document.values():
        for entry in part if isinstance(part, list) else ():
            if "source" in entry:
                entry["source"] = source
    return Results([Part(document, {source: _reader(contents, source)})])


def _read_file(name: str) -> ReadMessage:
    with open(name, "rb") as file:
        contents = file.read()
    if contents.startswith((b"{", b"[")):  # No tag of a binary result.
        raise ResultError(
            f"cannot read {name}: it is JSON; reports that distbench report wrote "
            "with --format=json are read by distbench.read_report()"
        )
    return _reader(contents, name)


def _reader(contents: bytes, source: str) -> ReadMessage:
    return cache(partial(result_files.parse, contents, source))


def _test_result(read: ReadMessage, position: int) -> results_pb2.TestResult:
    return read().test_results[position]


def _message_of(runs: Sequence[Run]) -> results_pb2.TestSequenceResults:
    return results_pb2.TestSequenceResults(test_results=[run.result for run in runs])


def _label(run: Run) -> str:
    """Tells runs of a test apart."""
    mark = " (simulated)" if run.simulated else ""
    number = f" #{run.repetition + 1}" if run.repetition > 0 else ""
    return f"{run.test}{mark}{number}"


def _check_schema(document: object) -> None:
    if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
        raise ResultError("it is not a report of distbench")
    version = document.get("schema_version")
    if version != _SCHEMA_VERSION:
        raise ResultError(
            f"it has schema_version {version}, and this package reads "
            f"{_SCHEMA_VERSION}; {_skew([document])}"
        )
    if not isinstance(document.get("tests"), list):
        raise ResultError("it has no list of tests, so it is damaged")


@contextlib.contextmanager
def _naming_what_is_missing(documents: Sequence[Json]) -> Iterator[None]:
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ResultError(
            f"a report lacks what this package needs ({error!r}); {_skew(documents)}"
        ) from error


def _skew(documents: Sequence[Json]) -> str:
    versions = {str(document.get("distbench_version")) for document in documents}
    return (
        f"distbench {', '.join(sorted(versions))} wrote it, and this package is "
        f"version {package_version()}: use the program and the package of one version"
    )
