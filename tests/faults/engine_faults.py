# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Engine processes that crash, hang or run out of memory, and node managers
that lose control of theirs."""

import os
import re
import signal
import time

from tests import programs
from tests.faults import cluster as clusters
from tests.faults import fault
from tests.faults import memory_group

FAULTS = fault.Faults()

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


@FAULTS.add("engine that waits for the next test killed (SIGKILL)")
def idle_engine_killed(cluster):
    _kill_engine(cluster, signal.SIGKILL)
    return fault.Seen(None, "nothing", cluster.seconds_until_usable())


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
    activity_settings { name: "nodes" int64_value: 50000000 }
  }
  action_lists { name: "client" action_names: "send" }
  action_lists { name: "ping" action_names: "work" }
}
"""


@FAULTS.add("engine needs more memory than its group has", memory_group.give)
def engine_out_of_memory(cluster):
    cluster.memory_group.take(cluster.victim())
    start = time.monotonic()
    outcome = cluster.start_run(GREEDY).finish()
    noticed_seconds = time.monotonic() - start
    words = fault.last_words(outcome)
    fault.check(outcome.status == 3, "the run did not fail", outcome)
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
