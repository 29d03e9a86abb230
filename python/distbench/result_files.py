"""Reads and writes result files: TestSequenceResults of proto/results.proto,
binary or text, plain or compressed by gzip."""

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import suppress

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from distbench import _walk
from distbench._proto import results_pb2
from distbench._totals import RpcTotals, statistics_from_samples
from distbench.errors import ResultError

_GZIP_MAGIC = b"\x1f\x8b"

# Enough of a file to see whether it is text.
_BEGINNING_BYTES = 8192


def read_file(path: str | os.PathLike[str]) -> results_pb2.TestSequenceResults:
    """Reads one result file.

    RPC logs of older tools that have samples only get statistics.

    Raises:
        OSError: the file cannot be read.
        ResultError: it is not a result, or its numbers contradict each other.
    """
    try:
        results = _parse(_read_bytes(path))
        complete(results)
    except UnicodeDecodeError as error:
        # Some versions of protobuf decode names only when they are used.
        raise ResultError(
            f"cannot read {os.fspath(path)}: it is damaged: a name in it is not "
            f"UTF-8: {error}"
        ) from error
    except (TypeError, ValueError) as error:
        raise ResultError(f"cannot read {os.fspath(path)}: {error}") from error
    return results


def write_file(
    results: results_pb2.TestSequenceResults,
    path: str | os.PathLike[str],
    *,
    text: bool = False,
) -> None:
    """Writes a result file that distbench reads, binary or as text; compressed
    if its name ends in ".gz"."""
    if text:
        contents = text_format.MessageToString(results).encode()
    else:
        contents = results.SerializeToString()
    if os.fspath(path).endswith(".gz"):
        contents = gzip.compress(contents)
    _replace(os.fspath(path), contents)


def result_files_in(folder: str | os.PathLike[str]) -> list[str]:
    """Lists the results (*.pb and *.pb.gz) in a folder, by name.

    Raises:
        ResultError: there are none.
    """
    files = sorted(
        entry.path
        for entry in os.scandir(folder)
        if entry.name.endswith((".pb", ".pb.gz"))
    )
    if not files:
        raise ResultError(
            f"{os.fspath(folder)} holds no results (*.pb or *.pb.gz)"
        )
    return files


def complete(results: results_pb2.TestSequenceResults) -> None:
    """Adds statistics to RPC logs that have samples only, and checks all.

    Raises:
        ResultError: names the log that contradicts itself.
    """
    for i, result in enumerate(results.test_results):
        for view in _all_logs(result):
            if not view.log.HasField("statistics"):
                view.log.statistics.CopyFrom(statistics_from_samples(view.log))
            try:
                RpcTotals().add(view.log.statistics)
            except ResultError as error:
                raise ResultError(
                    f"test_results[{i}]: statistics of {view.rpc} from "
                    f"{view.client} to {view.server}: {error}"
                ) from None


def _replace(path: str, contents: bytes) -> None:
    """Writes a file of which neither a reader nor another writer sees a part."""
    # In the same folder, because only within a file system are files renamed.
    partial = f"{path}.{secrets.token_hex(8)}.partial"
    try:
        with open(partial, "xb") as file:
            file.write(contents)
        os.replace(partial, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(partial)
        raise


def _all_logs(result: results_pb2.TestResult) -> Iterator[_walk.RpcLog]:
    # Without this, looking for logs would add an empty message.
    if result.HasField("service_logs"):
        yield from _walk.rpc_logs(result)


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        contents = file.read()
    if not contents.startswith(_GZIP_MAGIC):
        return contents
    try:
        return gzip.decompress(contents)
    except (EOFError, OSError, zlib.error) as error:
        raise ResultError(
            f"its compressed data is damaged or cut off: {error}"
        ) from None


def _parse(contents: bytes) -> results_pb2.TestSequenceResults:
    if not contents:
        raise ResultError("the file is empty")
    # No tag of a binary result is one of these.
    if contents.startswith((b"{", b"[")):
        raise ResultError(
            "it is JSON; reports that distbench report wrote with --format=json "
            "are read by distbench.read_report()"
        )
    if _looks_like_text(contents[:_BEGINNING_BYTES]):
        return _parse_text(contents)
    results = results_pb2.TestSequenceResults()
    try:
        results.ParseFromString(contents)
    except DecodeError:
        raise ResultError(
            "not a result of distbench, or cut off: expected "
            "TestSequenceResults, binary or text, plain or compressed by gzip"
        ) from None
    if not results.test_results and not results.searches and _has_unknown(results):
        raise ResultError(
            "not a result of tests; the jobs of distbench bench are printed by "
            "distbench bench -r FILE format"
        )
    return results


def _looks_like_text(beginning: bytes) -> bool:
    """Text is printable, or contains non-ASCII letters but begins with its only
    field. Binary results begin with tags and lengths, most of which are control
    characters."""
    if beginning.lstrip().startswith(b"test_results"):
        return True
    return all(32 <= byte < 127 or 9 <= byte <= 13 for byte in beginning)


def _parse_text(contents: bytes) -> results_pb2.TestSequenceResults:
    results = results_pb2.TestSequenceResults()
    try:
        text_format.Parse(contents.decode(), results)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ResultError(f"not results in text format: {error}") from None
    return results


def _has_unknown(results: results_pb2.TestSequenceResults) -> bool:
    size = results.ByteSize()
    results.DiscardUnknownFields()
    return results.ByteSize() != size
