# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""distbench as users run it: a sequencer, two node managers and `run_tests`,
whose result contains the figures."""

import contextlib
import os
import re
import subprocess
import tempfile

from bench import machine
from tests import certificates

DRIVERS = ("grpc", "grpc_stream", "http2", "libfabric", "tcp", "thrift")
PROGRAMS = {f"product_{driver}": driver for driver in DRIVERS}

NS_PER_US = 1e3
WARMUP_SECONDS = 0.5

CONFIG = """
tests {{
  name: "benchmark"
  workers_per_instance: {threads}
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  protocol_driver_options {{
    name: "default_protocol_driver_options"
    protocol_name: "{driver}"
    {settings}
  }}
  payload_descriptions {{ name: "request" size: {request_bytes} }}
  payload_descriptions {{ name: "response" size: {response_bytes} }}
  rpc_descriptions {{
    name: "query" client: "client" server: "server"
    request_payload_name: "request" response_payload_name: "response"
  }}
  action_lists {{ name: "client" action_names: "run" }}
  action_lists {{ name: "query" }}
  actions {{
    name: "run" rpc_name: "query"
    iterations {{
      {loop}
      max_duration_us: {duration_us}
      warmup_ns: {warmup_ns}
    }}
  }}
}}
"""


def _setting(side, name, value):
    kind = "int64_value" if isinstance(value, int) else "string_value"
    text = value if isinstance(value, int) else f'"{value}"'
    return f'{side}_settings {{ name: "{name}" {kind}: {text} }}'


def _settings(workload):
    settings = [_setting(side, "spin_us", workload.spin_us)
                for side in ("client", "server")]
    if workload.driver == "tcp":
        settings += [_setting("client", "connections", workload.connections),
                     _setting("client", "max_batch", workload.max_batch),
                     _setting("server", "max_batch", workload.max_batch)]
    return "\n    ".join(settings)


def _config(workload, arguments):
    seconds = max(arguments.seconds, workload.min_seconds)
    if workload.per_second:
        loop = f"open_loop_interval_ns: {round(1e9 / workload.per_second)}"
    else:
        loop = f"max_parallel_iterations: {workload.in_flight}"
    return CONFIG.format(
        threads=arguments.threads, driver=workload.driver,
        settings=_settings(workload), request_bytes=workload.request_bytes,
        response_bytes=workload.response_bytes, loop=loop,
        duration_us=round(1e6 * (seconds + WARMUP_SECONDS)),
        warmup_ns=round(1e9 * WARMUP_SECONDS))


def _number(pattern, text):
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"no {pattern!r} in the summary:\n{text}")
    return float(match.group(1))


def _figures(summary):
    node_cpu = [float(seconds) for seconds in
                re.findall(r"node\d: CPU: ([\d.]+)s", summary)]
    node_mib = re.findall(r"node\d: CPU: .* max RSS: ([\d.]+) MiB", summary)
    rpcs = _number(r"Total samples: (\d+)", summary)
    return {
        "kqps": _number(r"RPCs: \d+ \(([\d.]+) kQPS\)", summary),
        "p50_us": _number(r"median: (\d+)ns", summary) / NS_PER_US,
        "p99_us": _number(r"99%: (\d+)ns", summary) / NS_PER_US,
        "cpu_us": sum(node_cpu) * 1e6 / rpcs,
        "client_mib": float(node_mib[0]),
        "server_mib": float(node_mib[1]),
        "cpu_seconds": sum(node_cpu),
    }


class _Cluster:
    """A cluster that ends with its `with` block."""

    def __init__(self, binary, tls_flags):
        self._binary = binary
        self._tls_flags = tls_flags
        self._processes = []
        self.address = None

    def __enter__(self):
        try:
            sequencer = self._start("test_sequencer", "--port=0",
                                    "--listen=127.0.0.1")
            port = self._wait_for(sequencer, r"Listening at .*:(\d+)")
            self.address = f"127.0.0.1:{port}"
            for number in range(2):
                node = self._start("node_manager", f"node{number}",
                                   f"--test_sequencer={self.address}")
                self._wait_for(node, r"(registered) with")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self._processes):
            process.terminate()
            process.communicate()

    def _start(self, *arguments):
        self._processes.append(subprocess.Popen(
            [self._binary, *arguments, *self._tls_flags], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True))
        return self._processes[-1]

    @staticmethod
    def _wait_for(process, pattern):
        for line in process.stdout:
            match = re.search(pattern, line)
            if match:
                return match.group(1)
        raise ChildProcessError(f"{process.args} ended early")


def localhost_tls_flags(folder):
    """Makes certificates there; returns the flags that name them."""
    return certificates.Authority(folder, "authority").flags(
        "localhost", "DNS:localhost,IP:127.0.0.1")


def run_once(binary, workload, arguments):
    """Returns the figures of one test on a fresh cluster."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        tls_flags = localhost_tls_flags(folder) if workload.tls else []
        cluster = stack.enter_context(_Cluster(binary, tls_flags))
        infile = os.path.join(folder, "config")
        with open(infile, "w", encoding="utf-8") as file:
            file.write(_config(workload, arguments))
        busy_before, total_before = machine.cpu_seconds()
        # A slow start of the machine is no reason to fail a benchmark.
        summary = subprocess.run(
            [binary, "run_tests", f"--test_sequencer={cluster.address}",
             f"--infile={infile}", "--allow_invalid", *tls_flags],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=True).stdout
        busy_after, total_after = machine.cpu_seconds()
    figures = _figures(summary)
    figures["disturbance"] = max(
        0, (busy_after - busy_before - figures.pop("cpu_seconds"))
        / (total_after - total_before))
    return figures
