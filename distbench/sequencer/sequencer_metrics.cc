#include "distbench/sequencer/sequencer_metrics.h"

#include <optional>
#include <string>

#include "distbench/metrics/metrics_server.h"
#include "proto/control.pb.h"

namespace distbench {
namespace {

prometheus::MetricFamily Runs(int waiting, int running) {
  auto runs = Gauge("distbench_runs", "Test sequences, by state", waiting);
  runs.metric.front().label.push_back({"state", "waiting"});
  prometheus::ClientMetric& other = runs.metric.emplace_back();
  other.gauge.value = running;
  other.label.push_back({"state", "running"});
  return runs;
}

}  // namespace

std::vector<prometheus::MetricFamily> SequencerMetrics(
    const NodeRegistry& registry, const RunQueue& queue,
    const RunStatus& status) {
  const std::optional<RunStatus::RunningTest> running = status.Get();
  const TrafficProgress progress =
      running.has_value() ? running->progress : TrafficProgress();
  return {
      Gauge("distbench_nodes", "Nodes that are registered",
            static_cast<double>(registry.Nodes().size())),
      Gauge("distbench_busy_nodes", "Nodes that the test that runs uses",
            running.has_value()
                ? static_cast<double>(running->node_aliases.size())
                : 0),
      Runs(queue.waiting_count(), running.has_value() ? 1 : 0),
      Counter("distbench_rpcs_succeeded_total",
              "RPCs of all nodes in the test that runs",
              static_cast<double>(progress.succeeded_count())),
      Counter("distbench_rpcs_failed_total", "Those that failed",
              static_cast<double>(progress.failed_count())),
      Gauge("distbench_rpcs_in_flight", "Those that have not ended",
            static_cast<double>(progress.in_flight_count())),
  };
}

}  // namespace distbench
