// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/test_guards.h"

#include <utility>

#include "distbench/base/plugins.h"
#include "glog/logging.h"

namespace distbench::security {

TestGuards::TestGuards() {
  absl::StatusOr<TestGuards> guards = Make({});
  CHECK(guards.ok()) << guards.status();
  *this = *std::move(guards);
}

TestGuards::TestGuards(Guards guards) : guards_(std::move(guards)) {}

absl::StatusOr<TestGuards> TestGuards::Make(const GuardFlagValues& values) {
  Guards guards;
  for (const auto& [name, flag] : base::Plugins<GuardFlag>::All()) {
    const auto given = values.find(flag->flag());
    auto guard = flag->MakeGuard(
        given == values.end() ? std::vector<std::string>() : given->second);
    if (!guard.ok()) return guard.status();
    guards.push_back(*std::move(guard));
  }
  return TestGuards(std::move(guards));
}

absl::Status TestGuards::Check(const DistributedSystemDescription& test,
                               absl::string_view program) const {
  for (const auto& guard : guards_) {
    absl::Status allowed = guard->Check(test, program);
    if (!allowed.ok()) return allowed;
  }
  return absl::OkStatus();
}

absl::StatusOr<TestLimits> TestGuards::LimitsOf(
    const DistributedSystemDescription& test) const {
  TestLimits all;
  for (const auto& guard : guards_) {
    absl::StatusOr<TestLimits> own = guard->LimitsOf(test);
    if (!own.ok()) return own;
    all.limits.merge(own->limits);
    all.findings.insert(all.findings.end(), own->findings.begin(),
                        own->findings.end());
  }
  return all;
}

absl::Status TestGuards::CheckLimits(const DistributedSystemDescription& test,
                                     const std::vector<std::string>& instances,
                                     const InstanceLimits& limits) const {
  for (const auto& guard : guards_) {
    absl::Status allowed = guard->CheckLimits(test, instances, limits);
    if (!allowed.ok()) return allowed;
  }
  return absl::OkStatus();
}

}  // namespace distbench::security
