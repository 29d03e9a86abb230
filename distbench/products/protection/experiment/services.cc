// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment/services.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/traffic.h"

namespace distbench::protection {
namespace {

// Room for a name and some wildcards. The time of a match grows with both.
constexpr size_t kMaxMatchedLength = 400;

// What a closed loop with a count and no time does is set-up.
bool EndsByCount(const Action& action) {
  return action.iterations().has_max_iteration_count() &&
         !action.iterations().has_max_duration_us();
}

// The nodes that bundles name, by instance.
std::map<std::string, std::string> BundledNodes(
    const DistributedSystemDescription& test) {
  std::map<std::string, std::string> nodes;
  for (const auto& [alias, bundle] : test.node_service_bundles()) {
    for (const std::string& instance : bundle.services()) {
      nodes.emplace(instance, alias);
    }
  }
  return nodes;
}

// Names the nodes that no bundle takes, in their order.
class FreeNodes {
 public:
  explicit FreeNodes(const DistributedSystemDescription& test) {
    for (const auto& [alias, bundle] : test.node_service_bundles()) {
      if (!bundle.services().empty()) taken_.insert(alias);
    }
  }

  std::string Take() {
    std::string alias;
    do {
      alias = absl::StrCat("node", next_++);
    } while (taken_.contains(alias));
    return alias;
  }

 private:
  std::set<std::string> taken_;
  int64_t next_ = 0;
};

}  // namespace

std::vector<std::string> RootRpcs(const DistributedSystemDescription& test) {
  const config::TestNames names(test);
  std::set<std::string> sent;
  for (const ServiceSpec& service : test.services()) {
    config::ForEachActionOf(test, names, service.name(),
                            [&](const Action& action) {
                              if (action.has_rpc_name())
                                sent.insert(action.rpc_name());
                            });
  }
  std::vector<std::string> roots;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (sent.contains(rpc.name())) roots.push_back(rpc.name());
  }
  return roots;
}

std::string SubjectRpc(const DistributedSystemDescription& test) {
  const std::string& named = test.experiment().subject().rpc();
  if (!named.empty()) return named;
  const std::vector<std::string> roots = RootRpcs(test);
  return roots.size() == 1 ? roots.front() : "";
}

bool HasClosedLoop(const DistributedSystemDescription& test,
                   const std::string& rpc) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  return std::any_of(
      test.actions().begin(), test.actions().end(), [&](const Action& action) {
        return action.rpc_name() == rpc && config::IsClosedLoop(action) &&
               !EndsByCount(action) && main_actions.count(action.name()) > 0;
      });
}

double OpenLoopRate(const DistributedSystemDescription& test,
                    const std::string& rpc) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  double rate = 0;
  for (const Action& action : test.actions()) {
    const auto found = main_actions.find(action.name());
    if (found == main_actions.end() || action.rpc_name() != rpc) continue;
    rate += static_cast<double>(found->second) *
            config::MeanRatePerSecond(action.iterations());
  }
  return rate;
}

std::vector<std::string> ServicesMatching(
    const DistributedSystemDescription& test,
    const google::protobuf::RepeatedPtrField<std::string>& globs) {
  std::vector<std::string> matching;
  for (const ServiceSpec& service : test.services()) {
    // Names that are too long for a match have been reported.
    if (service.name().size() > kMaxMatchedLength) continue;
    const bool matches =
        std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
          return glob.size() <= kMaxMatchedLength &&
                 config::GlobMatches(glob, service.name());
        });
    if (matches) matching.push_back(service.name());
  }
  return matching;
}

std::vector<std::string> ServicesBeside(
    const DistributedSystemDescription& test, const Antagonist& antagonist) {
  if (!antagonist.placed_with().empty()) {
    return ServicesMatching(test, antagonist.placed_with());
  }
  const ExperimentSubject& subject = test.experiment().subject();
  if (!subject.services().empty()) {
    return ServicesMatching(test, subject.services());
  }
  const std::string name = SubjectRpc(test);
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.name() == name) return {rpc.server()};
  }
  return {};
}

std::map<std::string, std::string> NodesOfInstances(
    const DistributedSystemDescription& test) {
  std::map<std::string, std::string> nodes = BundledNodes(test);
  FreeNodes free_nodes(test);
  for (const ServiceSpec& service : test.services()) {
    for (const std::string& instance : config::InstanceNames(service)) {
      if (nodes.contains(instance)) continue;
      nodes.emplace(instance, free_nodes.Take());
    }
  }
  return nodes;
}

bool IsIncast(const Antagonist& antagonist) {
  return antagonist.activity() == kIncastActivity;
}

std::string AntagonistService(const Antagonist& antagonist) {
  return absl::StrCat(kAntagonistPrefix, antagonist.name());
}

std::string SenderService(const Antagonist& antagonist) {
  return absl::StrCat(AntagonistService(antagonist), "_sender");
}

std::vector<std::string> AntagonistServices(const Antagonist& antagonist) {
  std::vector<std::string> services = {AntagonistService(antagonist)};
  if (IsIncast(antagonist)) services.push_back(SenderService(antagonist));
  return services;
}

}  // namespace distbench::protection
