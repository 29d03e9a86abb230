#ifndef DISTBENCH_SEQUENCER_SERVING_SEQUENCER_METRICS_H_
#define DISTBENCH_SEQUENCER_SERVING_SEQUENCER_METRICS_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "distbench/sequencer/execution/test_outcomes.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_queue.h"
#include "distbench/sequencer/runs/run_status.h"

namespace distbench::sequencer {

// The sequencer's metrics for Prometheus; docs/metrics.md explains them.
std::vector<prometheus::MetricFamily> SequencerMetrics(
    const NodeRegistry& registry, const RunQueue& queue, const RunBook& book,
    const RunStatus& status, const TestOutcomes& outcomes);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_SEQUENCER_METRICS_H_
