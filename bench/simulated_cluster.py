# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A sequencer with the sessions of many simulated nodes (simulated_nodes.cc),
and tests that the real client submits to it."""

import glob
import os
import re
import resource
import signal
import subprocess
import tempfile
import time

DEADLINE_SECONDS = 120
PROCESSES = 4
TRAFFIC_SECONDS = 6
RESULT_BYTES = 10_000

# The sequencer's own files besides one for each session.
SPARE_FILES = 200

TEST = """
tests {{
  name: "everyone"
  services {{ name: "member" count: {count} }}
  rpc_descriptions {{ name: "query" client: "member" server: "member" }}
  actions {{
    name: "send" rpc_name: "query" iterations {{ max_duration_us: {us} }}
  }}
  action_lists {{ name: "member" action_names: "send" }}
  action_lists {{ name: "query" }}
}}
"""


def check_limits(count):
    """Raises the limit of open files; says what else has to be raised."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < count + SPARE_FILES:
        raise SystemExit(
            f"{count} sessions need {count + SPARE_FILES} open files, and the hard "
            f"limit is {hard}: ulimit -Hn {count + SPARE_FILES} (as root)"
        )
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        first, last = map(int, file.read().split())
    if last - first < count:
        raise SystemExit(
            f"{count} connections over loopback need as many ports: "
            f'sysctl -w net.ipv4.ip_local_port_range="1024 65535"'
        )


class Usage:
    """CPU and memory of a process, from /proc."""

    def __init__(self, pid):
        self._pid = pid

    def cpu_seconds(self):
        """Of the threads that there are. The clock's ticks, in which the process
        counts, miss threads that run for microseconds."""
        nanoseconds = 0
        for path in glob.glob(f"/proc/{self._pid}/task/*/schedstat"):
            with open(path, encoding="utf-8") as file:
                nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9

    def cores(self, seconds):
        """The mean number of cores in use during the next seconds."""
        begin, cpu = time.monotonic(), self.cpu_seconds()
        time.sleep(seconds)
        return (self.cpu_seconds() - cpu) / (time.monotonic() - begin)

    def peak_mib(self):
        with open(f"/proc/{self._pid}/status", encoding="utf-8") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) / 1024


class SimulatedNodes:
    """Processes with the sessions of `count` nodes, nearly equally many each."""

    def __init__(self, program, sequencer, count, *flags):
        bounds = [count * i // PROCESSES for i in range(PROCESSES + 1)]
        self._processes = [
            subprocess.Popen(
                [
                    program,
                    f"--sequencer={sequencer}",
                    f"--nodes={end - begin}",
                    f"--first_id={begin}",
                    f"--traffic_seconds={TRAFFIC_SECONDS}",
                    f"--result_bytes={RESULT_BYTES}",
                    *flags,
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for begin, end in zip(bounds, bounds[1:])
        ]

    def await_step(self, step):
        """Returns when the last node reached the step, in Unix seconds."""
        return max(self._await_step_of(p, step) for p in self._processes)

    def _await_step_of(self, process, step):
        for line in process.stdout:
            name, _, _, last_ns = line.split()
            if name == step:
                return int(last_ns) / 1e9
        raise SystemExit(f"simulated nodes ended before they were {step}")

    def kill_half(self):
        victims = self._processes[: PROCESSES // 2]
        for process in victims:
            process.kill()
        for process in victims:
            process.wait()
        del self._processes[: PROCESSES // 2]

    def stop(self):
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait(DEADLINE_SECONDS)


class Cluster:
    """Stops all processes at the end of a with block."""

    def __init__(self, distbench, simulated_nodes, count, *node_flags):
        check_limits(count)
        self._distbench = distbench
        self._count = count
        self._folder = tempfile.TemporaryDirectory()
        self._sequencer = subprocess.Popen(
            [
                distbench,
                "test_sequencer",
                "--port=0",
                "--listen=127.0.0.1",
                f"--max_nodes={count}",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.usage = Usage(self._sequencer.pid)
        self._address = None
        for line in self._sequencer.stdout:
            match = re.match(r"Listening at (\S+)$", line)
            if match:
                self._address = match.group(1)
                break
        self.begin = time.time()
        self.nodes = SimulatedNodes(
            simulated_nodes, self._address, count, *node_flags
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.nodes.stop()
        self._sequencer.send_signal(signal.SIGTERM)
        self._sequencer.wait(DEADLINE_SECONDS)
        self._folder.cleanup()

    def submit(self):
        return Submission(
            self._distbench, self._address, self._folder.name, self._count
        )


class Submission:
    """A test of all nodes, submitted by the real client."""

    def __init__(self, distbench, address, folder, count):
        self._distbench = distbench
        self._result = os.path.join(folder, "result.pb")
        infile = os.path.join(folder, "everyone.config")
        with open(infile, "w", encoding="utf-8") as file:
            file.write(TEST.format(count=count, us=TRAFFIC_SECONDS * 1_000_000))
        self.begin = time.time()
        self._client = subprocess.Popen(
            [
                distbench,
                "run_tests",
                f"--test_sequencer={address}",
                f"--infile={infile}",
                f"--outfile={self._result}",
                "--binary_output",
                "--quiet",
                "--allow_invalid",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait(self):
        """Returns the client's exit status and output."""
        self.output, self.errors = self._client.communicate(timeout=DEADLINE_SECONDS)
        self.end = time.time()
        return self._client.returncode

    def log_count(self):
        """The number of instances whose measurements the result has."""
        return len(self._report("--format=csv", "--table=peers").splitlines()) - 1

    def summary(self):
        return self._report("--format=text")

    def _report(self, *flags):
        return subprocess.run(
            [self._distbench, "report", self._result, *flags],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout
