# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Small results for tests, made by hand. distbench reads them: it makes statistics
of samples that have none."""

import os
import tempfile

import distbench
from distbench._proto import results_pb2
from distbench.result_files import write_file

SECOND_NS = 10**9
START_NS = 1_700_000_000 * SECOND_NS


def test_result(name="example", values=range(1000, 2000), failed=0, repetition=0):
    """Returns a TestResult of a closed loop: one RPC from client/0 to server/0
    with these service times, the sends spread over two seconds."""
    values = list(values)
    result = results_pb2.TestResult()
    config = result.traffic_config
    config.name = name
    config.rpc_descriptions.add(name="query", client=["client"], server="server")
    result.run_info.version = "1.2.3"
    result.run_info.random_seed = 2**63
    result.run_info.start_timestamp_ns = START_NS
    result.run_info.end_timestamp_ns = START_NS + 2 * SECOND_NS
    result.run_info.repetition = repetition
    instance = result.service_logs.instance_logs["client/0"]
    instance.error_dictionary.error_message.extend(["", "deadline"])
    log = instance.peer_logs["server/0"].rpc_logs[0]
    for i, latency in enumerate(values):
        # The last response is two seconds after the first send.
        is_last = i == len(values) - 1
        log.successful_rpc_samples.add(
            start_timestamp_ns=START_NS + (2 * SECOND_NS - latency if is_last else i),
            latency_ns=latency,
        )
    for _ in range(failed):
        log.failed_rpc_samples.add(start_timestamp_ns=START_NS, error_index=1)
    return result


def message_of(*tests):
    """Returns TestSequenceResults."""
    return results_pb2.TestSequenceResults(test_results=tests)


def read(message):
    """Returns Results of a message."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        path = os.path.join(folder, "a.pb")
        write_file(message, path)
        return distbench.read_results(path)


def results_of(*tests):
    """Returns Results of TestResults."""
    return read(message_of(*tests))


def report_of(*tests, **members):
    """Returns a JSON document as `distbench report` writes it."""
    return {
        "schema": "distbench report",
        "schema_version": 2,
        "distbench_version": "1.2.3",
        "tests": list(tests),
        "searches": [],
        **members,
    }


def report_of_test(**members):
    """Returns a test of such a document, without RPCs and tables."""
    return {
        "source": "a.pb",
        "name": "example",
        "repetition": 0,
        "simulated": False,
        "verdict": "ok",
        "failure": None,
        "findings": [],
        "rpcs": [],
        **members,
    }
