# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Clients that die or hang."""

import os
import signal

from tests.faults import cluster as clusters
from tests.faults import fault

FAULTS = fault.Faults()


@FAULTS.add("client killed (SIGKILL)")
def client_killed(cluster):
    run = cluster.start_run(clusters.traffic("orphan", seconds=5))
    cluster.wait_for_traffic()
    run.program.send(signal.SIGKILL)
    outcome = run.finish()
    outfile = os.path.join(cluster.folder, "orphan")
    cluster.runs("wait", run.id(), f"--outfile={outfile}", "--allow_invalid")
    fault.check_kept(outfile, fault.ALL_INSTANCES, outcome, has_failed=False)
    cluster.check_nothing_crashed()
    words = "the run went on; `runs wait` brought its result"
    return fault.Seen(None, words, cluster.seconds_until_usable())


@FAULTS.add(
    "client stopped (SIGSTOP) until its test and that of another were over"
)
def client_stopped(cluster):
    run = cluster.start_run(
        clusters.traffic("slow", 5, requests_per_second=500)
    )
    cluster.wait_for_traffic()
    run.program.send(signal.SIGSTOP)
    cluster.run_short_test()
    run.program.send(signal.SIGCONT)
    outcome = run.finish()
    fault.check(outcome.status == 0, "the run failed", outcome)
    fault.check_kept(
        run.outfile, fault.ALL_INSTANCES, outcome, has_failed=False
    )
    cluster.check_nothing_crashed()
    words = "nothing; the other's test ran, and its own result was whole"
    return fault.Seen(None, words, cluster.seconds_until_usable())
