// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a sequencer says of itself: its status page and its metrics.

#ifndef DISTBENCH_SEQUENCER_SERVING_STATUS_H_
#define DISTBENCH_SEQUENCER_SERVING_STATUS_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "distbench/base/clock.h"
#include "distbench/sequencer/execution/test_outcomes.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_queue.h"
#include "distbench/sequencer/runs/run_state.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// Describes the registered nodes, the running test and the queue; the nodes'
// hosts, if the request asks for them.
GetStatusResponse DescribeStatus(const NodeRegistry& registry,
                                 const RunStatus& running,
                                 const RunQueue& queue,
                                 const base::Clock& clock,
                                 const GetStatusRequest& request = {});

// The sequencer's metrics for Prometheus; docs/metrics.md explains them.
std::vector<prometheus::MetricFamily> SequencerMetrics(
    const NodeRegistry& registry, const RunQueue& queue, const RunBook& book,
    const RunStatus& status, const TestOutcomes& outcomes);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_STATUS_H_
