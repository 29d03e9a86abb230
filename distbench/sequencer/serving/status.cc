#include "distbench/sequencer/serving/status.h"

#include <optional>

#include "distbench/base/time_units.h"
#include "distbench/base/version.h"

namespace distbench::sequencer {
namespace {

NodeStatus DescribeNode(const NodeHandle& node,
                        const std::optional<RunStatus::RunningTest>& running) {
  NodeStatus status;
  status.mutable_config()->set_node_alias(node.alias());
  *status.mutable_registration() = node.registration();
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
  response.set_running_test(test.name);
  if (test.expected_duration_us > 0) {
    response.set_expected_duration_us(test.expected_duration_us);
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
                                 const base::Clock& clock) {
  GetStatusResponse response;
  const std::optional<RunStatus::RunningTest> test = running.Get();
  for (const auto& node : registry.Nodes()) {
    *response.add_nodes() = DescribeNode(*node, test);
  }
  if (test.has_value()) DescribeTest(*test, clock, response);
  response.set_queued_sequence_count(queue.waiting_count());
  response.set_version(std::string(base::ProgramVersion()));
  return response;
}

}  // namespace distbench::sequencer
