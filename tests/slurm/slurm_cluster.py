# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A Slurm cluster of three nodes on this machine, in a folder of its own.

Nothing below /etc is read or changed: munged and Slurm get their files by flags
and by SLURM_CONF. The daemons need root.
"""

import contextlib
import os
import re
import socket
import subprocess
import time

NODES = 3
CPUS_PER_NODE = 2

# Time limit of waits for daemons and commands.
DEADLINE_SECONDS = 60

# Slurm's own words for a job that has come to an end.
ENDED = (
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY "
    "PREEMPTED TIMEOUT"
).split()


class SlurmError(Exception):
    """What could not be started, or what a command said."""


def free_ports(count):
    """Returns ports that were free a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.socket()) for _ in range(count)
        ]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_until(condition, what, seconds=DEADLINE_SECONDS):
    """Waits until condition() is true, and returns what it returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)  # Slurm tells nobody when something changes.
    raise SlurmError(f"{what} took longer than {seconds} s")


class SlurmCluster:
    """A context: the cluster runs inside, and nothing of it afterwards."""

    def __init__(self, folder, path):
        """path: the PATH of jobs."""
        self.folder = folder
        self._daemons = []
        self._environment = {
            **os.environ,
            "PATH": path,
            "SLURM_CONF": os.path.join(folder, "slurm.conf"),
        }
        # What a Slurm job around this test may have set would be in the way.
        for name in list(self._environment):
            if name.startswith("SLURM_") and name != "SLURM_CONF":
                del self._environment[name]

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        self._stop()

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _start(self):
        self._write_configuration()
        self._start_munge()
        self._daemon("slurmctld", "-D", "-i")
        for node in range(1, NODES + 1):
            self._daemon("slurmd", "-D", "-N", f"n{node}")
        wait_until(
            lambda: self._idle_nodes() == NODES, "the start of the nodes"
        )

    def _write_configuration(self):
        # A requeued job waits for as long as credentials live, so that is short.
        ports = free_ports(NODES + 1)
        host = socket.gethostname().split(".")[0]
        for name in ["state"] + [f"spool.n{i}" for i in range(1, NODES + 1)]:
            os.mkdir(self._path(name))
        nodes = "\n".join(
            f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 "
            f"Port={ports[i]} CPUs={CPUS_PER_NODE} State=UNKNOWN"
            for i in range(1, NODES + 1)
        )
        with open(self._path("slurm.conf"), "w", encoding="utf-8") as file:
            file.write(
                f"""ClusterName=distbench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={self._path("munge.socket")},cred_expire=5
StateSaveLocation={self._path("state")}
SlurmdSpoolDir={self._path("spool.%n")}
SlurmctldPidFile={self._path("slurmctld.pid")}
SlurmdPidFile={self._path("slurmd.%n.pid")}
SlurmctldLogFile={self._path("slurmctld.log")}
SlurmdLogFile={self._path("slurmd.%n.log")}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=20
JobRequeue=1
MailProg=/bin/true
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
            )

    def _start_munge(self):
        key = self._path("munge.key")
        with open(
            os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb"
        ) as file:
            file.write(os.urandom(1024))
        self._daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={self._path('munge.socket')}",
            f"--pid-file={self._path('munge.pid')}",
            f"--seed-file={self._path('munge.seed')}",
        )
        wait_until(
            lambda: os.path.exists(self._path("munge.socket")),
            "the start of munged",
        )

    def _daemon(self, *command):
        log = open(  # pylint: disable=consider-using-with
            self._path(os.path.basename(command[0]) + ".out"), "ab"
        )
        with log:
            self._daemons.append(
                subprocess.Popen(  # pylint: disable=consider-using-with
                    command,
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def _idle_nodes(self):
        for daemon in self._daemons:
            if daemon.poll() is not None:
                raise SlurmError(f"{daemon.args[0]} has ended:\n{self.logs()}")
        outcome = subprocess.run(
            ["sinfo", "--noheader", "--Node", "--format=%N %t"],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return len(re.findall(r"^n\d idle$", outcome.stdout, re.MULTILINE))

    def _stop(self):
        # Jobs would outlive the daemons.
        if self._daemons:
            with contextlib.suppress(SlurmError, subprocess.SubprocessError):
                self.command("scancel", "--full", "--user=root")
                wait_until(
                    lambda: not self.command("squeue", "--noheader").strip(),
                    "the end of jobs",
                )
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(DEADLINE_SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def logs(self):
        """Returns the ends of all daemons' logs."""
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                path = self._path(name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += f"--- {name}\n{file.read()[-3000:]}"
        return text

    def command(self, *arguments, cwd=None, statuses=(0,)):
        """Runs a command as a user of Slurm, and returns what it prints."""
        outcome = subprocess.run(
            arguments,
            env=self._environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        if outcome.returncode not in statuses:
            raise SlurmError(
                f"{' '.join(arguments)}: status {outcome.returncode}\n"
                f"{outcome.stdout}{outcome.stderr}"
            )
        return outcome.stdout

    def submit(self, script, cwd, *flags):
        """Submits a batch script from a folder; returns the job's id."""
        printed = self.command("sbatch", "--parsable", *flags, script, cwd=cwd)
        return printed.strip().split(";")[0]

    def field(self, job, name):
        """Returns a field of `scontrol show job`; "" if the job is unknown."""
        try:
            shown = self.command("scontrol", "show", "job", job)
        except SlurmError:
            return ""
        match = re.search(rf"\b{name}=(\S*)", shown)
        return match.group(1) if match else ""

    def wait_for_state(self, job, *states, seconds=DEADLINE_SECONDS):
        """Waits for one of the states and returns it."""
        return wait_until(
            lambda: next(
                (
                    state
                    for state in states
                    if self.field(job, "JobState") == state
                ),
                None,
            ),
            f"job {job}: {'/'.join(states)}",
            seconds,
        )

    def wait_for_end(self, job, seconds=DEADLINE_SECONDS):
        """Waits until a job has ended and returns (state, exit status)."""
        state = self.wait_for_state(job, *ENDED, seconds=seconds)
        status, _, signal = self.field(job, "ExitCode").partition(":")
        return state, int(status) + (128 + int(signal) if int(signal) else 0)
