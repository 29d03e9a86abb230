"""Engine processes that crash, hang or run out of memory, and node managers
that lose control of theirs."""

import contextlib
import os
import re
import signal
import time

from tests import programs
from tests.faults import cluster as clusters
from tests.faults import fault

FAULTS = fault.Faults()

# The victim's node stays; its message names the instance.
LOST = (
    r"^node2 \(host node2\) ended the traffic: server/1: "
    r"its engine process \d+ "
)

# Time limit after the end of their node manager.
ORPHANS_END_SECONDS = 5


def _kill_engine(cluster, signal_number):
    for pid in programs.engines_of(cluster.victim()):
        os.kill(pid, signal_number)


def _runs(pid):
    """Returns whether the process can still do anything."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_for_the_end_of(pids):
    end = time.monotonic() + ORPHANS_END_SECONDS
    while any(_runs(pid) for pid in pids):
        if time.monotonic() > end:
            raise AssertionError(f"of the engines {pids} some still run")
        time.sleep(0.02)


def _wait_until_reaped(pids):
    """Waits until the node manager has noticed that its engines have ended."""
    end = time.monotonic() + ORPHANS_END_SECONDS
    while any(os.path.exists(f"/proc/{pid}") for pid in pids):
        if time.monotonic() > end:
            raise AssertionError(f"of the engines {pids} some are still there")
        time.sleep(0.02)


def _end_by_signal(cluster, signal_number, saw):
    # The measurements of the other nodes' engines are kept.
    return fault.end_a_test(
        cluster,
        do=lambda: _kill_engine(cluster, signal_number),
        undo=lambda: None,
        saw=LOST + saw,
    )


@FAULTS.add("engine crashed (SIGSEGV)")
def engine_crashed(cluster):
    return _end_by_signal(
        cluster,
        signal.SIGSEGV,
        r"was killed by signal 11 \(Segmentation fault\)$",
    )


@FAULTS.add("engine killed (SIGKILL)")
def engine_killed(cluster):
    return _end_by_signal(
        cluster, signal.SIGKILL, r"was killed by signal 9 \(Killed\)$"
    )


@FAULTS.add("engine stopped (SIGSTOP)")
def engine_stopped(cluster):
    return _end_by_signal(
        cluster, signal.SIGSTOP, r"did not answer for 4s, and was killed$"
    )


@FAULTS.add("engine that waits for the next test killed (SIGKILL)")
def idle_engine_killed(cluster):
    _kill_engine(cluster, signal.SIGKILL)
    return fault.Seen(None, "nothing", cluster.seconds_until_usable())


MEMORY_GROUP = "/sys/fs/cgroup/memory/distbench_fault_test"
MEMORY_LIMIT_BYTES = 200 << 20


@contextlib.contextmanager
def _memory_group(_cluster):
    os.mkdir(MEMORY_GROUP)
    try:
        with open(
            f"{MEMORY_GROUP}/memory.limit_in_bytes", "w", encoding="utf-8"
        ) as file:
            file.write(str(MEMORY_LIMIT_BYTES))
        yield
    finally:
        # The group's last processes may still be ending.
        end = time.monotonic() + clusters.RECOVERY_SECONDS
        while True:
            try:
                os.rmdir(MEMORY_GROUP)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)


# Allocates more than the group allows, faster than the node manager looks.
GREEDY = """
tests {
  name: "greedy"
  services { name: "client" count: 1 }
  services { name: "server" count: 2 }
  overload_limits { max_memory_bytes: 100000000000 }
  rpc_descriptions { name: "ping" client: "client" server: "server" }
  actions {
    name: "send" rpc_name: "ping"
    iterations { open_loop_interval_ns: 10000000 max_duration_us: 60000000 }
  }
  actions { name: "work" activity_config_name: "graph" }
  activity_configs {
    name: "graph"
    activity_settings {
      name: "activity_func" string_value: "PageRank"
    }
    activity_settings { name: "nodes" int64_value: 6000000 }
  }
  action_lists { name: "client" action_names: "send" }
  action_lists { name: "ping" action_names: "work" }
}
"""


@FAULTS.add("engine out of memory (in a control group)", _memory_group)
def engine_out_of_memory(cluster):
    with open(f"{MEMORY_GROUP}/cgroup.procs", "w", encoding="utf-8") as file:
        file.write(str(cluster.victim().pid))
    # The waiting engine was started outside the group. A test that begins before
    # its end is noticed would be lost with it.
    waiting = programs.engines_of(cluster.victim())
    _kill_engine(cluster, signal.SIGKILL)
    _wait_until_reaped(waiting)
    start = time.monotonic()
    outcome = cluster.start_run(GREEDY).finish()
    noticed_seconds = time.monotonic() - start
    words = fault.last_words(outcome)
    fault.check(outcome.status == 1, "the run did not fail", outcome)
    fault.check(
        re.search(
            r"^node2 \(host node2\) could not .*: server/1: its engine process "
            r"\d+ was killed by signal 9 \(Killed\): the kernel had no memory ",
            words,
        ),
        f'"{words}" does not say why',
        outcome,
    )
    cluster.check_nothing_crashed()
    return fault.Seen(noticed_seconds, words, cluster.seconds_until_usable())


@FAULTS.add("node killed (SIGKILL) while its engine is stopped (SIGSTOP)")
def node_of_stopped_engine_killed(cluster):
    victim = cluster.victim()
    engines = []

    def kill_both():
        engines.extend(programs.engines_of(victim))
        _kill_engine(cluster, signal.SIGSTOP)
        victim.send(signal.SIGKILL)

    seen = fault.end_a_test(
        cluster,
        do=kill_both,
        undo=lambda: cluster.start_node(clusters.VICTIM),
        saw=fault.LOST,
        gone=[victim],
    )
    wait_for_the_end_of(engines)
    return seen


@FAULTS.add("node stopped (SIGSTOP): its engine ends; then continued")
def engine_of_stopped_node_ends(cluster):
    victim = cluster.victim()

    def stop():
        engines = programs.engines_of(victim)
        victim.send(signal.SIGSTOP)
        wait_for_the_end_of(engines)

    return fault.end_a_test(
        cluster,
        do=stop,
        undo=lambda: victim.send(signal.SIGCONT),
        saw=fault.SILENT,
    )
