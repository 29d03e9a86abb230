# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Networks that lose, delay or cut the traffic of a node."""

import contextlib
import time

from tests.faults import cluster as clusters
from tests.faults import fault
from tests.faults import namespaces
from tests.faults import proxy as proxies

FAULTS = fault.Faults()


@FAULTS.add("node's link cut (packets lost), then healed")
def link_cut(cluster):
    host = cluster.hosts["node2"]
    return fault.end_a_test(
        cluster, host.cut_link, host.heal_link, saw=fault.SILENT
    )


@FAULTS.add("node's link down (no carrier), then up")
def link_down(cluster):
    host = cluster.hosts["node2"]
    return fault.end_a_test(
        cluster,
        do=lambda: host.set_link(False),
        undo=lambda: host.set_link(True),
        saw=fault.SILENT,
    )


@FAULTS.add("node's link cut for 1.5 s")
def link_cut_for_a_moment(cluster):
    host = cluster.hosts["node2"]

    def cut_for_a_moment():
        host.cut_link()
        # TCP resumes after a delay that doubles, so a cut of half the nodes'
        # timeout may already last too long.
        time.sleep(1.5)
        host.heal_link()

    return fault.survive(
        cluster, cut_for_a_moment, undo=lambda: None, seconds=6
    )


@FAULTS.add("node's link slow (1 Mbit/s)")
def link_slow(cluster):
    host = cluster.hosts["node2"]
    return fault.survive(
        cluster,
        do=lambda: host.throttle(1000),
        undo=lambda: host.throttle(None),
    )


@contextlib.contextmanager
def _behind_a_proxy(cluster):
    """Makes the victim reach the sequencer through cluster.proxy."""
    target = (cluster.hosts["sequencer"].address, clusters.PORT)
    cluster.proxy = proxies.Proxy(namespaces.ADDRESS, target)
    cluster.node_sequencer[clusters.VICTIM] = cluster.proxy.address
    yield
    cluster.proxy.close()


def _set(thing, **values):
    for name, value in values.items():
        setattr(thing, name, value)


@FAULTS.add(
    "node's way to the sequencer slow (200 ms each way)", _behind_a_proxy
)
def control_delayed(cluster):
    return fault.survive(
        cluster,
        do=lambda: _set(cluster.proxy, delay_seconds=0.2),
        undo=lambda: _set(cluster.proxy, delay_seconds=0),
    )


@FAULTS.add("node's way to the sequencer narrow (20 kB/s)", _behind_a_proxy)
def control_throttled(cluster):
    return fault.survive(
        cluster,
        do=lambda: _set(cluster.proxy, bytes_per_second=20_000),
        undo=lambda: _set(cluster.proxy, bytes_per_second=None),
    )


@FAULTS.add(
    "node's connection to the sequencer stalled, then going on", _behind_a_proxy
)
def control_stalled(cluster):
    return fault.end_a_test(
        cluster,
        do=lambda: _set(cluster.proxy, is_stalled=True),
        undo=lambda: _set(cluster.proxy, is_stalled=False),
        saw=fault.SILENT,
    )


@FAULTS.add("node's connection to the sequencer reset", _behind_a_proxy)
def control_reset(cluster):
    return fault.end_a_test(
        cluster, do=cluster.proxy.reset, undo=lambda: None, saw=fault.LOST
    )
