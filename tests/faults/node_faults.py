# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Nodes that die, hang, leave or vanish."""

import signal

from tests.faults import cluster as clusters
from tests.faults import fault

FAULTS = fault.Faults()


@FAULTS.add("node killed (SIGKILL), then started again")
def node_killed(cluster):
    victim = cluster.victim()
    return fault.end_a_test(
        cluster,
        do=lambda: victim.send(signal.SIGKILL),
        undo=lambda: cluster.start_node(clusters.VICTIM),
        saw=fault.LOST,
        gone=[victim],
    )


@FAULTS.add("node stopped (SIGSTOP), then continued")
def node_stopped(cluster):
    return fault.end_a_test(
        cluster,
        do=lambda: cluster.victim().send(signal.SIGSTOP),
        undo=lambda: cluster.victim().send(signal.SIGCONT),
        saw=fault.SILENT,
    )


@FAULTS.add("node told to end (SIGTERM), then started again")
def node_told_to_end(cluster):
    victim = cluster.victim()

    def check_end_and_start():
        outcome = victim.wait()
        fault.check(outcome.status == 0, "the node did not end well", outcome)
        cluster.start_node(clusters.VICTIM)

    return fault.end_a_test(
        cluster,
        do=lambda: victim.send(signal.SIGTERM),
        undo=check_end_and_start,
        saw=r"^node2 \(host node2\) ended the traffic: "
        r"the node was told to end",
        kept=fault.ALL_INSTANCES,
        gone=[victim],
    )


@FAULTS.add(
    "node's host gone (no packet any more), then back, its node started again"
)
def host_gone(cluster):
    victim = cluster.victim()
    host = cluster.hosts["node2"]

    def go():
        host.cut_link()
        victim.send(signal.SIGKILL)

    def come_back():
        host.heal_link()
        cluster.start_node(clusters.VICTIM)

    return fault.end_a_test(
        cluster, go, come_back, saw=fault.SILENT, gone=[victim]
    )
