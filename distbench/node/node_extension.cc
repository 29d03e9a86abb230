#include "distbench/node/node_extension.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace distbench::node {

absl::Status TestPartExtensions::Begin(
    const NodeExtensions& products, const NodeSite& site,
    const DistributedSystemDescription& test,
    const std::vector<std::string>& instances) {
  for (const auto& [name, product] : products) {
    absl::StatusOr<std::unique_ptr<TestPartExtension>> part =
        product->TestBegins(site, test, instances);
    if (!part.ok()) return part.status();
    if (*part != nullptr) parts_.push_back(*std::move(part));
  }
  return absl::OkStatus();
}

bool TestPartExtensions::places_processes() const {
  return absl::c_any_of(
      parts_, [](const auto& part) { return part->places_processes(); });
}

int TestPartExtensions::GroupOf(absl::string_view instance) const {
  for (const auto& part : parts_) {
    if (const int group = part->GroupOf(instance); group >= 0) return group;
  }
  return -1;
}

std::map<std::string, GroupUse> TestPartExtensions::ReadUse() const {
  std::map<std::string, GroupUse> use;
  for (const auto& part : parts_) use.merge(part->ReadUse());
  return use;
}

void TestPartExtensions::TrafficEnded() {
  for (const auto& part : parts_) part->TrafficEnded();
}

std::vector<Finding> TestPartExtensions::Undo() {
  std::vector<Finding> findings;
  for (const auto& part : parts_) {
    if (auto finding = part->Undo()) findings.push_back(*std::move(finding));
  }
  return findings;
}

void TestPartExtensions::AddResults(NodeResources& resources) const {
  for (const auto& part : parts_) part->AddResults(resources);
}

}  // namespace distbench::node
