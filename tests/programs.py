# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Real processes in tests: starts them, watches them, and ends them."""

import atexit
import contextlib
import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest
import uuid

# Time limit of every wait. Long, because the machine may be busy with other
# tests; nothing takes that long unless it hangs.
DEADLINE_SECONDS = 60

DISTBENCH = os.path.abspath(
    os.environ.get("DISTBENCH", "distbench/cli/distbench")
)
TEST_BUILDER = os.path.abspath("test_builder/test_builder_main")
START_SCRIPT = os.path.abspath("start_distbench_localhost.sh")

# Whether scripts/sanitize.sh runs the tests: programs then need more memory and
# return less of it.
SANITIZED = "DISTBENCH_SANITIZED" in os.environ

# A home for the programs of the tests, which is removed after them: browsers and
# shells leave settings and caches there, and the developer's are not for them.
_HOME = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"), prefix="home")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ["HOME"] = _HOME
for _variable in list(os.environ):
    if re.fullmatch("XDG_[A-Z]+_HOME", _variable):
        del os.environ[_variable]

# What the developer's shell, or a launcher that has started the tests, tells
# programs is not for those of the tests: defaults of flags, and places in jobs.
_NOT_FOR_TESTS = re.compile(
    "DISTBENCH_(TEST_SEQUENCER|TLS_|SECRET|LEADER|RENDEZVOUS|SIZE|IN_JOB"
    "|NODE_ATTRIBUTES)|(SLURM|OMPI|PMI|JOB_COMPLETION)_"
)
for _variable in filter(_NOT_FOR_TESTS.match, list(os.environ)):
    del os.environ[_variable]

# Inherited by all programs that a test starts, so that leftovers are found.
_MARKER = "DISTBENCH_TEST_MARKER"


class Outcome:
    """How a program ended and what it printed."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def __repr__(self):
        return (
            f"status {self.status}\n"
            f"--- stdout\n{self.out}--- stderr\n{self.err}"
        )


class Program:
    """A running program, whose output is read continuously."""

    def __init__(self, arguments, **popen_arguments):
        self.name = " ".join(os.path.basename(arg) for arg in arguments)
        self._process = subprocess.Popen(
            arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=popen_arguments.pop("stdin", subprocess.DEVNULL),
            **popen_arguments,
        )
        self.pid = self._process.pid
        self._changed = threading.Condition()
        self._text = {"out": "", "err": ""}
        self._readers = [
            threading.Thread(target=self._read, args=(stream, key), daemon=True)
            for stream, key in (
                (self._process.stdout, "out"),
                (self._process.stderr, "err"),
            )
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, key):
        while chunk := os.read(stream.fileno(), 65536):
            with self._changed:
                self._text[key] += chunk.decode(errors="replace")
                self._changed.notify_all()
        with self._changed:
            self._text[key + "_ended"] = True
            self._changed.notify_all()

    def text(self, stream="out"):
        """Returns the output so far."""
        with self._changed:
            return self._text[stream]

    def wait_for(self, pattern, stream="out", start=0):
        """Waits until the pattern matches the output so far, from position
        `start` on; returns the match."""
        end = time.monotonic() + DEADLINE_SECONDS
        with self._changed:
            while True:
                text = self._text[stream][start:]
                match = re.search(pattern, text, re.MULTILINE)
                if match:
                    return match
                remaining = end - time.monotonic()
                if remaining <= 0 or (stream + "_ended") in self._text:
                    raise AssertionError(
                        f'"{self.name}" did not print "{pattern}" '
                        f'to std{stream}:\n'
                        f'{self._text["out"]}{self._text["err"]}'
                    )
                self._changed.wait(remaining)

    def send(self, signal_number):
        self._process.send_signal(signal_number)

    def running(self):
        return self._process.poll() is None

    def wait(self):
        """Waits for the end and returns the Outcome."""
        try:
            status = self._process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f'"{self.name}" did not end:\n'
                f'{self._text["out"]}{self._text["err"]}'
            ) from None
        self._join_readers()
        return Outcome(status, self._text["out"], self._text["err"])

    def stop(self, signal_number=signal.SIGTERM):
        self.send(signal_number)
        return self.wait()

    def kill(self):
        if self.running():
            self._process.kill()
        self._process.wait()
        self._join_readers()

    def _join_readers(self):
        streams = (self._process.stdout, self._process.stderr)
        for reader, stream in zip(self._readers, streams):
            reader.join(DEADLINE_SECONDS)
            if not reader.is_alive():
                stream.close()


def free_port():
    """Returns a port of loopback on which nobody listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def lacks_driver(outcome):
    """Whether a test was refused because the program has not its driver, whose
    library or product is left out."""
    return re.search(
        "is not built into this distbench|no driver and no options are named",
        outcome.err,
    )


def engines_of(node):
    """Returns the ids of a node manager's engine processes."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                parent = file.read().rpartition(")")[2].split()[1]
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
        except OSError:
            continue  # The process has ended meanwhile.
        if int(parent) == node.pid and command[1:2] == [b"engine"]:
            found.append(int(pid))
    return found


class ProgramTest(unittest.TestCase):
    """A test that starts programs, and leaves none behind when it ends."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)
        self._marker = uuid.uuid4().hex
        self._programs = []
        self.addCleanup(self._kill_programs)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def require_command(self, name):
        """Skips a test of what belongs to a product that may be left out."""
        if self.distbench("help", name).status != 0:
            self.skipTest(f"this program was built without the product {name}")

    def environment(self, **extra):
        return {
            **os.environ,
            _MARKER: self._marker,
            "DISTBENCH": DISTBENCH,
            **extra,
        }

    def start(self, *arguments, **popen_arguments):
        popen_arguments.setdefault("env", self.environment())
        program = Program(list(arguments), **popen_arguments)
        self._programs.append(program)
        return program

    def run_to_end(self, *arguments, **popen_arguments):
        return self.start(*arguments, **popen_arguments).wait()

    def distbench(self, *arguments, **popen_arguments):
        return self.run_to_end(DISTBENCH, *arguments, **popen_arguments)

    def on_terminal(self, columns, *arguments, **environment):
        """Runs distbench to its end; returns its exit status, and what it writes to a
        terminal as stdout."""
        terminal, stdout = pty.openpty()
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(stdout, termios.TIOCSWINSZ, size)
        with subprocess.Popen(
            [DISTBENCH, *arguments],
            env=self.environment() | {"TERM": "xterm"} | environment,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
        ) as process:
            os.close(stdout)
            written = b""
            # At the end of the output, Linux reports an error.
            with contextlib.suppress(OSError):
                while piece := os.read(terminal, 65536):
                    written += piece
            os.close(terminal)
        return process.returncode, written.decode().replace("\r\n", "\n")

    def assert_one_file(self, infile, *command):
        """Checks that the command takes a file as an argument or as a flag."""
        twice = self.distbench(*command, infile, f"--infile={infile}")
        self.assertEqual(twice.status, 1, twice)
        self.assertRegex(twice.err, "FILE.*--infile|--infile.*FILE")

    def wait_for_traffic(self, address, *flags):
        """Waits until a test of this sequencer has measured something. Its
        client would tell every few seconds."""
        end = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < end:
            status = self.distbench(
                "status", f"--test_sequencer={address}", *flags
            )
            if re.search(r", [1-9]\d* RPCs", status.out):
                return
        raise AssertionError(f"no traffic: {status}")

    def leftovers(self):
        """Returns the command lines of this test's running processes, by id."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read()
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ")
            except OSError:
                continue  # The process has ended meanwhile, or is not ours.
            if self._marker.encode() in environment and command:
                found[int(pid)] = command.decode(errors="replace")
        return found

    def assert_nothing_runs(self):
        self.assertEqual(self.leftovers(), {})

    def _kill_programs(self):
        # Also what they have started, before anything is waited for: it may
        # hold the other ends of the pipes that are read to their end.
        end = time.monotonic() + DEADLINE_SECONDS
        while (pids := self.leftovers()) and time.monotonic() < end:
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # The process has ended meanwhile.
        for program in self._programs:
            program.kill()
            # Otherwise a test may misinterpret the end, or not notice it.
            if "WARNING: ThreadSanitizer" in program.text("err"):
                raise AssertionError(program.text("err"))


class ClusterTest(ProgramTest):
    """A test with a sequencer and nodes, each in its own process."""

    def start_sequencer(self, *flags):
        sequencer = self.start(
            DISTBENCH,
            "test_sequencer",
            "--port=0",
            "--listen=127.0.0.1",
            *flags,
        )
        port = sequencer.wait_for(r"^Listening at 127.0.0.1:(\d+)$").group(1)
        sequencer.address = f"127.0.0.1:{port}"
        return sequencer

    def start_node(self, sequencer, *arguments):
        node = self.start(
            DISTBENCH,
            "node_manager",
            *arguments,
            f"--test_sequencer={sequencer.address}",
            "--service_address=127.0.0.1",
        )
        node.wait_for(r"^node\d+ registered with ")
        return node

    def wait_for_nodes(self, sequencer, count):
        """Waits for nodes that reconnect."""
        end = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < end:
            status = self.distbench(
                "status", f"--test_sequencer={sequencer.address}"
            )
            if f"Nodes: {count}\n" in status.out:
                return
        raise AssertionError(f"the nodes did not come back: {status}")

    def run_tests(self, sequencer, infile, *flags, **popen_arguments):
        return self.distbench(
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={infile}",
            *flags,
            **popen_arguments,
        )


def client_server_config(iterations, name="client_server"):
    """Returns a test of two instances; iterations: its iterations message."""
    return f"""
tests {{
  name: "{name}"
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  rpc_descriptions {{
    name: "ping" client: "client" server: "server"
    request_payload_name: "small" response_payload_name: "small"
  }}
  payload_descriptions {{ name: "small" size: 16 }}
  actions {{ name: "send" rpc_name: "ping" iterations {{ {iterations} }} }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""


# A test that runs until it is told to stop.
ENDLESS = "max_duration_us: 600000000"
