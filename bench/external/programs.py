# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The programs that are compared: how they are run, and what they report.

run_ghz() and run_distbench() expect the descriptor set of the service in the
stage's folder, and the server at stage.server_pid.
"""

import json
import math
import os
import re
import resource
import subprocess

from bench import histogram
from bench.external import cases
from bench.gallery import distbench
from bench.gallery import disturbances
from bench.gallery import peers
from bench.gallery import processes

CONFIG = """
tests {{
  name: "external"
  workers_per_instance: 1
  sample_memory_bytes: 0
  services {{ name: "client" count: 1 }}
  services {{
    name: "server"
    external {{ addresses: "{address}" connections: {connections} }}
  }}
  rpc_descriptions {{
    name: "call" client: "client" server: "server" {stream}
    external_call {{
      method: "/{method}" request_json: '{request}' {descriptors}
    }}
  }}
  action_lists {{ name: "client" action_names: "run" }}
  actions {{
    name: "run" rpc_name: "call"
    iterations {{ {loop} max_duration_us: {duration_us} }}
  }}
}}
"""


def _disturb(case, stage):
    """Called when there is traffic."""
    if case.is_frozen:
        disturbances.Stop(
            cases.FREEZE_AFTER, cases.FREEZE_SECONDS).during(stage)


def _method(service, case):
    """Returns what is called, as package.Service/Method."""
    if not case.stream:
        return service.method
    return service.method.rpartition("/")[0] + "/" + case.stream.method


def _children_cpu_seconds():
    """Returns what the children of this process have used that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _used_cpu_seconds(pid):
    """Returns what a process has used, with its children, also ended ones."""
    total = 0.0
    for process in processes.with_children(pid):
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            ticks = file.read().rpartition(")")[2].split()[11:15]
        total += sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return total


# ---- ghz --------------------------------------------------------------------


def ghz_flags(service, case, folder):
    """Returns the flags that say what is called."""
    flags = [f"--call={_method(service, case)}", f"--data={service.request}"]
    if case.connections > 1:
        flags.append(f"--connections={case.connections}")
    if case.stream and case.stream.sends > 1:
        flags.append(f"--stream-call-count={case.stream.sends}")
    if case.stream and case.stream.interval_ms:
        flags.append(f"--stream-interval={case.stream.interval_ms}ms")
    if service.descriptors:
        flags.append(
            f"--protoset={os.path.join(folder, service.descriptors)}")
    return flags


def parse_ghz(output):
    """Reads a JSON report. Of RPCs that failed, it has no percentiles."""
    said = peers.parse_ghz(output, "", "")
    result = json.loads(output)
    p50 = [row["latency"] for row in result["latencyDistribution"] or []
           if row["percentage"] == 50]
    slow_ns = 1e9 * cases.SLOW_SECONDS
    return cases.from_report(
        said, p50=p50[0] / 1e9 if p50 else math.inf,
        longest=result["slowest"] / 1e9,
        slow=sum(call["latency"] > slow_ns for call in result["details"] or []))


def run_ghz(program, service, address, case, stage):
    """Runs ghz, and returns its Figures, by name."""
    before = _children_cpu_seconds()
    ghz = stage.start(
        [*stage.generator_prefix,
         *peers.ghz_command(program, address, case.seconds, case.rate,
                            case.in_flight,
                            ghz_flags(service, case, stage.folder))],
        stderr=subprocess.PIPE)
    _disturb(case, stage)
    output, _ = processes.finish(ghz, case.seconds)
    return {"ghz": cases.of_messages(parse_ghz(output), case,
                                     _children_cpu_seconds() - before,
                                     json.loads(output)["count"])}


# ---- distbench --------------------------------------------------------------


def config(service, address, case):
    """Returns the traffic config of a case."""
    loop = (f"open_loop_interval_ns: {round(1e9 / case.rate)}" if case.rate
            else f"max_parallel_iterations: {case.in_flight}")
    descriptors = (f'descriptor_set_file: "{service.descriptors}"'
                   if service.descriptors else "")
    return CONFIG.format(
        address=address, method=_method(service, case), request=service.request,
        descriptors=descriptors, loop=loop, connections=case.connections,
        stream=_stream(case.stream) if case.stream else "",
        duration_us=round(1e6 * case.seconds))


def _stream(stream):
    fields = f"client_messages: {stream.sends}"
    if stream.interval_ms:
        fields += f' client_interval: "{stream.interval_ms}ms"'
    if stream.is_echo:
        fields += ' response_starts: "echo"'
    return f"stream {{ {fields} }}"


def parse_distbench(report, result):
    """Reads a JSON report, and the result that it is about, as text."""
    said = distbench.parse(report, causes=())
    rpc, times = distbench.only_rpc(json.loads(report)["tests"][0])
    field = ("service_time_ns" if times is rpc["service_time"]
             else "response_time_ns")
    slow_ns = 1e9 * cases.SLOW_SECONDS
    return cases.from_report(
        said, p50=distbench.percentile(times, 50),
        longest=times["max_ns"] / 1e9,
        slow=sum(count for value, count in histogram.of_result(result, field)
                 if value > slow_ns))


def parse_messages(report):
    """Reads the round trips of an echo's messages from a JSON report, which
    does not say how many of them were slow."""
    test = json.loads(report)["tests"][0]
    rpc, _ = distbench.only_rpc(test)
    rows = [dict(zip(test["streams"]["columns"], row, strict=True))
            for row in test["streams"]["rows"]]
    (times,) = [row for row in rows if row["part"] == "round_trip"]
    return cases.Figures(
        per_second=times["count"] * 1e9 / rpc["duration_ns"],
        p50=times["p50_ns"] / 1e9, p99=times["p99_ns"] / 1e9,
        longest=times["max_ns"] / 1e9, slow=math.nan, failed=math.nan)


def run_distbench(program, service, address, case, stage):
    """Runs distbench on a cluster of its own, and returns its Figures, by name:
    of echoes, those of their messages, too."""
    report, result, cpu_seconds = run_test(
        program, address, config(service, address, case), stage, case.seconds,
        lambda: _disturb(case, stage))
    rpc, _ = distbench.only_rpc(json.loads(report)["tests"][0])
    figures = {"distbench": cases.of_messages(
        parse_distbench(report, result), case, cpu_seconds,
        rpc["succeeded_count"] + rpc["failed_count"])}
    if case.stream and case.stream.is_echo:
        figures["- messages"] = parse_messages(report)
    return figures


def run_test(program, address, text, stage, seconds, during=lambda: None):
    """Runs a test that calls the address, and `during` while it does so.

    Returns the JSON report, the result as text, and the CPU seconds of all
    processes.
    """
    infile = os.path.join(stage.folder, "test.config")
    outfile = os.path.join(stage.folder, "result.txtpb")
    with open(infile, "w", encoding="utf-8") as file:
        file.write(text)
    sequencer = stage.start(
        [*stage.generator_prefix, program, "test_sequencer", "--port=0",
         "--listen=127.0.0.1", "--local_nodes=1", f"--allow_target={address}"],
        stderr=None)
    own_address = processes.wait_for(
        sequencer, r"Listening at (\S+)").group(1)
    before = _children_cpu_seconds()
    client = stage.start(
        [*stage.generator_prefix, program, "run_tests",
         f"--test_sequencer={own_address}", "--allow_invalid",
         f"--infile={infile}", f"--outfile={outfile}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    processes.wait_for(client, "started", client.stderr)
    during()
    processes.finish(client, seconds)
    cpu_seconds = (_used_cpu_seconds(sequencer.pid)
                   + _children_cpu_seconds() - before)
    # The status says whether the run is invalid, and so does the report.
    report = subprocess.run([program, "report", outfile, "--format=json"],
                            capture_output=True, text=True, check=False)
    if not re.match(r"\s*\{", report.stdout):
        raise ValueError(f"distbench: no report: {report.stderr}")
    with open(outfile, encoding="utf-8") as file:
        return report.stdout, file.read(), cpu_seconds
