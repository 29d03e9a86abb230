# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Sequencers that die or hang."""

import signal

from tests.faults import fault

FAULTS = fault.Faults()


@FAULTS.add("sequencer killed (SIGKILL), then started again")
def sequencer_killed(cluster):
    sequencer = cluster.sequencer
    return fault.end_a_test(
        cluster,
        do=lambda: sequencer.send(signal.SIGKILL),
        undo=cluster.start_sequencer,
        saw=r"sequencer",
        kept=(),
        gone=[sequencer],
    )


@FAULTS.add(
    "sequencer stopped (SIGSTOP) until its nodes notice, then continued"
)
def sequencer_stopped(cluster):
    lost = {node: len(node.text("err")) for node in cluster.nodes.values()}

    def nodes_have_noticed():
        for node, before in lost.items():
            node.wait_for(
                r"has lost .* \(it has said nothing for ", "err", before
            )
        cluster.sequencer.send(signal.SIGCONT)

    return fault.end_a_test(
        cluster,
        do=lambda: cluster.sequencer.send(signal.SIGSTOP),
        noticed=nodes_have_noticed,
        undo=lambda: None,
        saw=r"(was|were) lost during the traffic",
        kept=(),
    )
