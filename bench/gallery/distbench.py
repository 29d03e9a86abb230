# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""distbench as a load generator: its config, its processes and its result."""

import dataclasses
import json
import math
import os
import re
import subprocess

from bench.gallery import processes
from bench.gallery.peers import CONCURRENCY
from bench.gallery.report import Report

CONFIG = """
tests {{
  name: "fooled"
  workers_per_instance: 1
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  node_service_bundles {{ key: "node0" value {{ services: "client/0" }} }}
  node_service_bundles {{ key: "node1" value {{ services: "server/0" }} }}
  rpc_descriptions {{
    name: "query" client: "client" server: "server" {deadline}
  }}
  action_lists {{ name: "client" action_names: "run" }}
  actions {{
    name: "run" rpc_name: "query"
    iterations {{ {loop} max_duration_us: {duration_us} }}
  }}
  {server}
}}
"""

_NO_WORK = 'action_lists { name: "query" }'

_WORK = """
  activity_configs {{
    name: "work"
    activity_settings {{ name: "activity_func" string_value: "SpinFor" }}
    activity_settings {{ name: "duration_us" int64_value: {work_us} }}
  }}
  action_lists {{ name: "query" action_names: "work" }}
  actions {{ name: "work" activity_config_name: "work" }}
"""

# A server of distbench cannot refuse a request, so some take too long.
_DEADLINE = "deadline_us: 20000"
_FAILURES = """
  activity_configs {{
    name: "hang"
    activity_settings {{ name: "activity_func" string_value: "Wait" }}
    activity_settings {{ name: "mean_us" int64_value: 100000 }}
  }}
  action_lists {{
    name: "query" action_names: "hang"
    predicate_probabilities {{ key: "fails" value: {share} }}
  }}
  actions {{ name: "hang" activity_config_name: "hang" predicates: "fails" }}
"""

# Requests wait for a place that the server itself occupies at first.
_SLOW_START = """
  activity_pools {{ name: "start" size: 1 }}
  activity_configs {{
    name: "get_ready" pool_name: "start"
    activity_settings {{ name: "activity_func" string_value: "Wait" }}
    activity_settings {{ name: "mean_us" int64_value: {start_us} }}
  }}
  activity_configs {{
    name: "be_ready" pool_name: "start"
    activity_settings {{ name: "activity_func" string_value: "Wait" }}
    activity_settings {{ name: "mean_us" int64_value: 1 }}
  }}
  action_lists {{ name: "server" action_names: "get_ready" }}
  actions {{ name: "get_ready" activity_config_name: "get_ready" }}
  action_lists {{ name: "query" action_names: "be_ready" }}
  actions {{ name: "be_ready" activity_config_name: "be_ready" }}
"""


@dataclasses.dataclass(frozen=True)
class Distbench:
    """One way to use distbench."""

    name: str
    is_open: bool
    program: str  # path
    uses_libc_clock: bool = True

    def is_installed(self):
        return os.access(self.program, os.X_OK)


def config(row, is_open):
    """Returns the traffic config of a row."""
    behaviour = row.server
    deadline, server = "", _NO_WORK
    if behaviour.work_us:
        server = _WORK.format(work_us=behaviour.work_us)
    elif behaviour.fail_every:
        deadline = _DEADLINE
        server = _FAILURES.format(share=1 / behaviour.fail_every)
    elif behaviour.slow_start_ms:
        server = _SLOW_START.format(start_us=1000 * behaviour.slow_start_ms)
    loop = (f"open_loop_interval_ns: {round(1e9 / row.rate)}" if is_open
            else f"max_parallel_iterations: {CONCURRENCY}")
    return CONFIG.format(deadline=deadline, loop=loop, server=server,
                         duration_us=round(1e6 * row.seconds))


def only_rpc(test):
    """Returns the RPC of a test of a JSON report, and its latencies: response
    times, or in a closed loop service times."""
    if test["failure"]:
        raise ValueError(f"distbench: the test failed: {test['failure']}")
    (rpc,) = test["rpcs"]
    times = rpc["response_time"]
    if not times or not times["count"]:
        times = rpc["service_time"]
    return rpc, times


def percentile(times, percentage):
    """Returns a percentile in seconds, infinite if it is among failures."""
    (value,) = [row["value_ns"] for row in times["percentiles"]
                if row["percentile"] == percentage]
    return math.inf if value is None else value / 1e9


def parse(text, causes):
    """Reads a JSON report. Of the findings, only `causes` count as warnings."""
    test = json.loads(text)["tests"][0]
    rpc, times = only_rpc(test)
    total = rpc["succeeded_count"] + rpc["failed_count"]
    return Report(
        p99=percentile(times, 99),
        failed=rpc["failed_count"] / total,
        per_second=rpc["per_second"],
        warnings=[f"{finding['code']}: {finding['message']}"
                  for finding in test["findings"]
                  if finding["severity"] != "note"
                  and finding["code"] in causes])


def run(tool, row, stage):
    """Runs a row on a cluster of its own, and returns a Report."""
    infile = os.path.join(stage.folder, "test.config")
    outfile = os.path.join(stage.folder, "result.pb.gz")
    with open(infile, "w", encoding="utf-8") as file:
        file.write(config(row, tool.is_open))
    generator, server = stage.generator_prefix, stage.server_prefix
    sequencer = stage.start([*generator, tool.program, "test_sequencer",
                             "--port=0", "--listen=127.0.0.1"])
    address = processes.wait_for(sequencer, r"Listening at (\S+)").group(1)
    nodes = []
    for name, prefix in (("node0", generator), ("node1", server)):
        nodes.append(stage.start([
            *prefix, tool.program, "node_manager", name,
            f"--test_sequencer={address}", "--service_address=127.0.0.1"]))
        processes.wait_for(nodes[-1], "registered with")
    client = stage.start(
        [*generator, tool.program, "run_tests", f"--test_sequencer={address}",
         "--allow_invalid", "--no_samples", "--binary_output",
         f"--infile={infile}", f"--outfile={outfile}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    processes.wait_for(client, "started", client.stderr)
    # A node's engines are its children.
    stage.generator_pid, stage.server_pid = nodes[0].pid, nodes[1].pid
    row.disturbance.during(stage)
    processes.finish(client, row.seconds)
    # The status says whether the run is invalid, and so does the report.
    report = subprocess.run(
        [tool.program, "report", outfile, "--format=json"],
        capture_output=True, text=True, check=False)
    if not re.match(r"\s*\{", report.stdout):
        raise ValueError(f"distbench: no report: {report.stderr}")
    return parse(report.stdout, row.causes)
