// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "distbench/base/time_units.h"
#include "distbench/base/version.h"
#include "distbench/metrics/openmetrics.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {
namespace {

NodeStatus DescribeNode(const NodeSession& node,
                        const std::optional<RunStatus::RunningTest>& running,
                        bool with_host) {
  NodeStatus status;
  status.mutable_config()->set_node_alias(node.alias());
  *status.mutable_registration() = node.registration();
  if (!with_host) status.mutable_registration()->clear_host();
  status.set_busy(running.has_value() &&
                  running->node_aliases.count(node.alias()) > 0);
  if (const std::optional<ClockOffset> offset = node.clock_offset()) {
    status.set_clock_offset_ns(offset->offset_ns);
    status.set_clock_error_ns(offset->error_ns);
  }
  return status;
}

void DescribeTest(const RunStatus::RunningTest& test, const base::Clock& clock,
                  GetStatusResponse& response) {
  response.set_running_test(test.description.name());
  if (test.description.has_expected_duration_us()) {
    response.set_expected_duration_us(test.description.expected_duration_us());
  }
  if (test.started_ns == 0) return;
  response.set_running_time_us((clock.MonotonicNs() - test.started_ns) /
                               base::kNsPerUs);
  *response.mutable_progress() = test.progress;
}

}  // namespace

GetStatusResponse DescribeStatus(const NodeRegistry& registry,
                                 const RunStatus& running,
                                 const RunQueue& queue,
                                 const base::Clock& clock,
                                 const GetStatusRequest& request) {
  GetStatusResponse response;
  const std::optional<RunStatus::RunningTest> test = running.Get();
  for (const auto& node : registry.Nodes()) {
    *response.add_nodes() = DescribeNode(*node, test, request.with_hosts());
  }
  if (test.has_value()) DescribeTest(*test, clock, response);
  response.set_queued_sequence_count(queue.waiting_count());
  response.set_version(std::string(base::ProgramVersion()));
  return response;
}

namespace {

prometheus::MetricFamily Runs(int waiting, int running) {
  auto runs = metrics::Family("distbench_runs", "Test sequences, by state",
                              prometheus::MetricType::Gauge);
  metrics::AddMetric({{"state", "waiting"}}, runs).gauge.value = waiting;
  metrics::AddMetric({{"state", "running"}}, runs).gauge.value = running;
  return runs;
}

// Includes zero counts, so that the first run shows as an increase.
prometheus::MetricFamily EndedRuns(
    const std::map<RunDescription::State, int64_t>& counts) {
  auto runs = metrics::Family("distbench_runs_ended_total",
                              "Test sequences that have ended, by outcome",
                              prometheus::MetricType::Counter);
  for (const auto& [state, outcome] :
       {std::pair(RunDescription::DONE, "done"),
        std::pair(RunDescription::FAILED, "failed"),
        std::pair(RunDescription::CANCELLED, "cancelled"),
        std::pair(RunDescription::INTERRUPTED, "interrupted")}) {
    const auto it = counts.find(state);
    metrics::AddMetric({{"outcome", outcome}}, runs).counter.value =
        it == counts.end() ? 0 : static_cast<double>(it->second);
  }
  return runs;
}

}  // namespace

std::vector<prometheus::MetricFamily> SequencerMetrics(
    const NodeRegistry& registry, const RunQueue& queue, const RunBook& book,
    const RunStatus& status, const TestOutcomes& outcomes) {
  const std::optional<RunStatus::RunningTest> running = status.Get();
  const TrafficProgress totals = status.totals();
  std::vector<prometheus::MetricFamily> families = {
      metrics::Gauge("distbench_nodes", "Registered nodes",
                     static_cast<double>(registry.Nodes().size())),
      metrics::Gauge("distbench_busy_nodes", "Nodes that the current test uses",
                     running.has_value()
                         ? static_cast<double>(running->node_aliases.size())
                         : 0),
      Runs(queue.waiting_count(), running.has_value() ? 1 : 0),
      EndedRuns(book.ended_counts()),
      metrics::Counter("distbench_rpcs_succeeded_total",
                       "RPCs that succeeded, of all nodes and tests",
                       static_cast<double>(totals.succeeded_count())),
      metrics::Counter("distbench_rpcs_failed_total",
                       "RPCs that failed, of all nodes and tests",
                       static_cast<double>(totals.failed_count())),
      metrics::Counter("distbench_rpcs_offered_total",
                       "RPCs that open loops should have sent",
                       static_cast<double>(totals.offered_count())),
      metrics::Gauge(
          "distbench_rpcs_in_flight", "RPCs that have not ended",
          running.has_value()
              ? static_cast<double>(running->progress.in_flight_count())
              : 0),
  };
  for (prometheus::MetricFamily& family : outcomes.Metrics()) {
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace distbench::sequencer
