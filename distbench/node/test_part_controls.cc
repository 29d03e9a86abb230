// What a node's part of a test does about control groups.

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/node/test_part.h"

namespace distbench::node {
namespace {

// How long processes of engines may take to end, before the removal of their
// control groups kills them.
constexpr absl::Duration kEndPatience = absl::Seconds(5);

}  // namespace

// Only names of the plan become names of groups.
absl::Status TestPart::ApplyControls() {
  const DistributedSystemDescription& test = request_.config().traffic_config();
  if (!test.has_controls()) return absl::OkStatus();
  absl::flat_hash_set<std::string> known;
  for (const config::InstancePlan& instance : plan_->instances) {
    known.insert(instance.name);
  }
  std::vector<std::string> instances;
  for (const std::string& name : request_.config().services()) {
    // PrepareInstances() refuses the others.
    if (known.contains(name)) instances.push_back(name);
  }
  protection::ControlHost host = environment_.control_host;
  host.root = environment_.system_root;
  return controls_.Apply(test, instances,
                         !environment_.engines.disturbs_engines(), host);
}

absl::Status TestPart::RestoreControls() {
  if (controls_.has_groups()) environment_.engines.AwaitEnds(kEndPatience);
  return controls_.Restore();
}

}  // namespace distbench::node
