"""Visits a test's RPC logs, with indices resolved to names, as
distbench/results/walk.h does."""

from collections.abc import Iterator
from typing import NamedTuple

from distbench._proto import results_pb2


class RpcLog(NamedTuple):
    """One RPC from one client instance to one server instance."""

    client: str
    server: str
    rpc: str
    log: results_pb2.RpcPerformanceLog
    errors: results_pb2.ErrorDictionary  # The client's.


def rpc_logs(result: results_pb2.TestResult) -> Iterator[RpcLog]:
    """Lists the logs by client, server and RPC."""
    instance_logs = result.service_logs.instance_logs
    for client in sorted(instance_logs):
        peer_logs = instance_logs[client].peer_logs
        for server in sorted(peer_logs):
            logs = _logs_by_rpc(peer_logs[server])
            for index in sorted(logs):
                yield RpcLog(
                    client,
                    server,
                    rpc_name(result, index),
                    logs[index],
                    instance_logs[client].error_dictionary,
                )


def rpc_indices(result: results_pb2.TestResult) -> list[int]:
    """Lists the RPCs that the config defines or that there are logs of."""
    indices = set(range(len(result.traffic_config.rpc_descriptions)))
    for log in result.service_logs.instance_logs.values():
        for peer_log in log.peer_logs.values():
            indices.update(_logs_by_rpc(peer_log))
        indices.update(log.rpc_time_series)
    return sorted(indices)


def _logs_by_rpc(
    peer_log: results_pb2.PeerPerformanceLog,
) -> dict[int, results_pb2.RpcPerformanceLog]:
    """Returns the logs of RPCs and of replay traces, by index."""
    return {**peer_log.rpc_logs, **peer_log.replay_logs}


def rpc_name(result: results_pb2.TestResult, index: int) -> str:
    """Returns the name of an RPC or, beyond these, of a replay trace."""
    rpcs = result.traffic_config.rpc_descriptions
    if 0 <= index < len(rpcs):
        return rpcs[index].name
    traces = result.traffic_config.rpc_replay_traces
    trace = index - len(rpcs)
    if 0 <= trace < len(traces):
        return traces[trace].name
    return f"rpc[{index}]"


def error_message(errors: results_pb2.ErrorDictionary, index: int) -> str:
    """Returns the message of a failure, or a substitute if there is none."""
    if index == 0:
        return "cause not recorded"
    if not 0 <= index < len(errors.error_message):
        return f"error {index}, which is missing from the error dictionary"
    return errors.error_message[index]
