# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Engine processes that are lost in each phase of a test, in each way.

The victim's node hosts the clients, so that its engine is the one that works
in each phase: it is made, connects, sends and hands over its measurements.
"""

import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import time

from tests import programs
from tests.faults import cluster as clusters
from tests.faults import fault
from tests.faults import memory_group
from tests.faults import namespaces
from tests.faults import proxy as proxies

FAULTS = fault.Faults()

CLIENTS = ("client/0", "client/1")
CLIENT = CLIENTS[1]  # which is lost
LOST = rf"{CLIENT}: its engine process \d+ "


# ---- Ways of being lost -----------------------------------------------------


def _send(signal_number, _cluster, pid):
    os.kill(pid, signal_number)


# Takes all memory that is left in its group. The kernel then ends the engine,
# as the least protected process.
HOG = """
import os, sys
open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
open("/proc/self/oom_score_adj", "w").write("-1000")
open(f"/proc/{sys.argv[2]}/oom_score_adj", "w").write("1000")
pieces = []
while os.path.exists(f"/proc/{sys.argv[2]}/exe"):
    pieces.append(b"x" * (1 << 20))
"""


def _run_out_of_memory(cluster, pid):
    # It stays in its phase while the hog grows.
    os.kill(pid, signal.SIGSTOP)
    group = cluster.memory_group.path
    hog = [sys.executable, "-c", HOG, group, str(pid)]
    subprocess.run(hog, check=False, timeout=clusters.RECOVERY_SECONDS)


WAYS = {
    "crashed (SIGSEGV)": (
        functools.partial(_send, signal.SIGSEGV),
        r"was killed by signal 11 \(Segmentation fault\)",
    ),
    "killed (SIGKILL)": (
        functools.partial(_send, signal.SIGKILL),
        r"was killed by signal 9 \(Killed\)",
    ),
    "stopped (SIGSTOP)": (
        functools.partial(_send, signal.SIGSTOP),
        r"did not answer for 4s, and was killed",
    ),
    "out of memory": (
        _run_out_of_memory,
        r"was killed by signal 9 \(Killed\): the kernel had no memory left",
    ),
}


# ---- Phases -----------------------------------------------------------------


def _config(name, iterations, extra=""):
    """Two clients on the victim's node, and a server on each of the others."""
    return f"""
tests {{
  name: "{name}"
  services {{ name: "client" count: 2 }}
  services {{ name: "server" count: 2 }}
  node_service_bundles {{
    key: "node{clusters.VICTIM}"
    value {{ services: "client/0" services: "client/1" }}
  }}
  overload_limits {{ max_memory_bytes: 100000000000 }}
  protocol_driver_options {{
    name: "default_protocol_driver_options" protocol_name: "tcp"
  }}
  rpc_descriptions {{
    name: "ping" client: "client" server: "server"
    fanout_filter: "round_robin"
  }}
  actions {{
    name: "send" rpc_name: "ping" iterations {{ {iterations} }}
  }}
  {extra}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "ping" }}
}}
"""


FOREVER = (
    f"max_duration_us: {int(fault.LONG_SECONDS * 1e6)} "
    "open_loop_interval_ns: 10000000"
)

TEN_TIMES = "max_iteration_count: 10"

# Nobody replays them, but it takes an engine half a second to compile them.
RECORDS = f"""
  rpc_replay_traces {{
    name: "trace" client: "client" server: "server"
    defaults {{
      request_size: 10 response_size: 10
      timing_mode: RELATIVE_TO_TRACE_START
    }}
    {"records { timing_ns: 1 } " * 300_000}
  }}
"""


def _wait_for(run, what, condition):
    """Returns the first result of the condition that is true."""
    end = time.monotonic() + clusters.RECOVERY_SECONDS
    while not (found := condition()):
        if not run.program.running():
            raise AssertionError(f"there was no {what}: {run.finish()}")
        if time.monotonic() > end:
            raise AssertionError(f"there was no {what}")
        time.sleep(0.005)
    return found


def _engine_of(cluster, instance):
    """Returns the process of the instance, or None as long as it has none.

    A node makes its instances in their order, in processes that are started
    in this order.
    """
    engines = sorted(programs.engines_of(cluster.victim()))
    number = int(instance.partition("/")[2])
    return engines[number] if len(engines) > number else None


@contextlib.contextmanager
def _preparing(cluster):
    run = cluster.start_run(
        _config("preparing", TEN_TIMES, RECORDS)
    )
    yield run, _wait_for(
        run, "engine that is made", lambda: _engine_of(cluster, CLIENT)
    )


SYN_SENT = "02"


def _has_connection(pid, state):
    try:
        with open(f"/proc/{pid}/net/tcp", encoding="utf-8") as file:
            return any(line.split()[3] == state for line in file)
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _connecting(cluster):
    """Nothing that a server's host sends reaches the victim."""
    server = cluster.hosts["node1"]
    victim = cluster.hosts[f"node{clusters.VICTIM}"]
    server.block(victim.address)
    try:
        run = cluster.start_run(_config("connecting", FOREVER))

        def is_connecting():
            pid = _engine_of(cluster, CLIENT)
            return pid if pid and _has_connection(pid, SYN_SENT) else None

        yield run, _wait_for(run, "engine that connects", is_connecting)
    finally:
        server.unblock(victim.address)


@contextlib.contextmanager
def _sending(cluster):
    run = cluster.start_run(_config("sending", FOREVER))
    cluster.wait_for_traffic()
    yield run, _engine_of(cluster, CLIENT)


# More samples than may be on their way at once, over a narrow link.
MANY = "max_iteration_count: 400000 max_parallel_iterations: 100"
NARROW_BYTES_PER_SECOND = 2_000_000
COLLECTING_BYTES = 1 << 20


@contextlib.contextmanager
def _collecting(cluster):
    proxy = cluster.proxy
    proxy.bytes_per_second = NARROW_BYTES_PER_SECOND
    before = proxy.bytes_passed
    try:
        run = cluster.start_run(_config("collecting", MANY))

        def has_begun():
            return proxy.bytes_passed - before > COLLECTING_BYTES

        _wait_for(run, "collection", has_begun)
        yield run, _engine_of(cluster, CLIENT)
    finally:
        proxy.bytes_per_second = None


DONE = r"^node2 \(host node2\) "

# How a phase is reached, and the beginning of what the client then says. A node
# starts processes before it makes engines in them, and replaces one that is
# lost until then, once for each engine.
NOTHING = "nothing; the test went on in another process"
DONE = r"^node2 \(host node2\) "

PHASES = {
    "while it is made": (_preparing, NOTHING),
    "while it connects": (
        _connecting,
        DONE + "could not connect its instances to their peers: ",
    ),
    "during the traffic": (_sending, DONE + "ended the traffic: "),
    "while its results are collected": (
        _collecting,
        DONE + "could not hand over its results: ",
    ),
}

# Exit statuses of run_tests. Without any traffic, there is no result.
SUCCESS = 0
INCOMPLETE = 3


def _status(phase):
    return SUCCESS if phase == "while it is made" else INCOMPLETE


# ---- Faults -----------------------------------------------------------------


@contextlib.contextmanager
def _set_up(cluster):
    """The victim is in a memory group, and behind a proxy."""
    target = (cluster.hosts["sequencer"].address, clusters.PORT)
    cluster.proxy = proxies.Proxy(namespaces.ADDRESS, target)
    cluster.node_sequencer[clusters.VICTIM] = cluster.proxy.address
    with memory_group.give(cluster):
        yield
    cluster.proxy.close()


# A process may be made by the time that it is found.
MAX_TRIES = 5


def _lose_an_engine(phase, way, cluster):
    reach, said = PHASES[phase]
    lose, saw = WAYS[way]
    cluster.memory_group.take(cluster.victim())
    for _ in range(MAX_TRIES):
        with reach(cluster) as (run, pid):
            start = time.monotonic()
            lose(cluster, pid)
            outcome = run.finish()
            noticed_seconds = time.monotonic() - start
        words = fault.last_words(outcome)
        if not _was_too_late(phase, words, saw):
            break
        cluster.wait_for_nodes()
    fault.check(outcome.status == _status(phase), "the exit status", outcome)
    # Before the traffic there is nothing to keep.
    if phase != "while it connects":
        has_failed = outcome.status == INCOMPLETE
        fault.check_kept(run.outfile, CLIENTS, outcome, has_failed)
    cluster.check_nothing_crashed()
    if outcome.status == SUCCESS:
        return fault.Seen(None, said, cluster.seconds_until_usable())
    fault.check(
        re.search(said + LOST + saw, words),
        f'"{words}" does not say what happened',
        outcome,
    )
    return fault.Seen(noticed_seconds, words, cluster.seconds_until_usable())


def _was_too_late(phase, words, saw):
    """Returns whether the engine was lost in a later phase."""
    later = list(PHASES)[list(PHASES).index(phase) + 1 :]
    return any(re.search(PHASES[one][1] + LOST + saw, words) for one in later)


for _phase in PHASES:
    for _way in WAYS:
        FAULTS.add(
            f"engine {_way} {_phase}",
            _set_up,
            name="_".join(
                re.findall(r"\w+", f"engine {_way.split(' (')[0]} {_phase}")
            ),
        )(functools.partial(_lose_an_engine, _phase, _way))
