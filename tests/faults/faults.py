# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""All faults, of which docs/reliability.md has the slowest."""

from tests.faults import client_faults
from tests.faults import engine_faults
from tests.faults import engine_phase_faults
from tests.faults import host_faults
from tests.faults import link_faults
from tests.faults import node_faults
from tests.faults import sequencer_faults
from tests.faults import stranger_faults

FAULTS = [
    *node_faults.FAULTS,
    *engine_faults.FAULTS,
    *engine_phase_faults.FAULTS,
    *link_faults.FAULTS,
    *sequencer_faults.FAULTS,
    *client_faults.FAULTS,
    *host_faults.FAULTS,
    *stranger_faults.FAULTS,
]

# Time limit after each fault.
USABLE_WITHIN_SECONDS = 10


def run_fault(fault, cluster, times):
    """Runs the fault `times` times on one cluster. Yields a Seen each time."""
    with fault.set_up(cluster):
        try:
            cluster.start()
            for _ in range(times):
                yield fault.happen(cluster)
        finally:
            cluster.close()
