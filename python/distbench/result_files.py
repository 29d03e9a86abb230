# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The messages of result files: TestSequenceResults of proto/results.proto,
binary or text, plain or compressed by gzip. They are for those who need logs and
samples; distbench itself says what they amount to."""

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from distbench._proto import results_pb2
from distbench.errors import ResultError

_GZIP_MAGIC = b"\x1f\x8b"

# Enough of a file to see whether it is text.
_BEGINNING_BYTES = 8192


class RpcLog(NamedTuple):
    """What one client instance recorded of one RPC to one server instance."""

    client: str
    server: str
    rpc: str
    log: results_pb2.RpcPerformanceLog
    errors: results_pb2.ErrorDictionary  # The client's.


def rpc_logs(result: results_pb2.TestResult) -> Iterator[RpcLog]:
    """Lists the logs by client, server and RPC; those of replay traces are among
    them."""
    instance_logs = result.service_logs.instance_logs
    for client in sorted(instance_logs):
        peer_logs = instance_logs[client].peer_logs
        for server in sorted(peer_logs):
            peer_log = peer_logs[server]
            logs = {**peer_log.rpc_logs, **peer_log.replay_logs}
            for index in sorted(logs):
                yield RpcLog(
                    client,
                    server,
                    _rpc_name(result, index),
                    logs[index],
                    instance_logs[client].error_dictionary,
                )


def error_message(errors: results_pb2.ErrorDictionary, index: int) -> str:
    """Returns the message of a failure, or a substitute if there is none."""
    if index == 0:
        return "cause not recorded"
    if not 0 <= index < len(errors.error_message):
        return f"error {index}, which is missing from the error dictionary"
    return errors.error_message[index]


def parse(contents: bytes, source: str) -> results_pb2.TestSequenceResults:
    """Reads the contents of a result file.

    Raises:
        ResultError: it is not a result; names the source.
    """
    try:
        return _parse(contents)
    except (DecodeError, EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise ResultError(
            f"cannot read {source}: it is damaged or cut off: {error}"
        ) from None
    except text_format.ParseError as error:
        raise ResultError(
            f"cannot read {source}: not results in text format: {error}"
        ) from None


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
        raise ResultError(f"{os.fspath(folder)} holds no results (*.pb or *.pb.gz)")
    return files


def _rpc_name(result: results_pb2.TestResult, index: int) -> str:
    """Returns the name of an RPC or, beyond these, of a replay trace."""
    rpcs = result.traffic_config.rpc_descriptions
    if 0 <= index < len(rpcs):
        return rpcs[index].name
    traces = result.traffic_config.rpc_replay_traces
    trace = index - len(rpcs)
    if 0 <= trace < len(traces):
        return traces[trace].name
    return f"rpc[{index}]"


def _parse(contents: bytes) -> results_pb2.TestSequenceResults:
    if contents.startswith(_GZIP_MAGIC):
        contents = gzip.decompress(contents)
    results = results_pb2.TestSequenceResults()
    if _looks_like_text(contents[:_BEGINNING_BYTES]):
        text_format.Parse(contents.decode(), results)
    else:
        results.ParseFromString(contents)
    return results


def _looks_like_text(beginning: bytes) -> bool:
    """Text is printable, or contains non-ASCII letters but begins with its first
    field. Binary results begin with tags and lengths, most of which are control
    characters."""
    if beginning.lstrip().startswith(b"test_results"):
        return True
    return all(32 <= byte < 127 or 9 <= byte <= 13 for byte in beginning)


def _replace(path: str, contents: bytes) -> None:
    """Writes a file of which neither a reader nor another writer sees a part.
    Symbolic links are followed. What is no regular file, such as a pipe or a
    device, cannot be replaced, and is written directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        # Without O_CREAT: what has gone meanwhile does not become a file.
        with open(os.open(path, os.O_WRONLY), "wb") as file:
            file.write(contents)
        return
    path = os.path.realpath(path)
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
