// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The addresses of external services that tests may call: none, unless the
// operators of the sequencer and of the nodes say so.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_ALLOWED_TARGETS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_ALLOWED_TARGETS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/security/test_guards.h"
#include "proto/traffic_config.pb.h"

namespace distbench::external {

// Immutable. Addresses are compared as they are written and are never resolved:
// what an operator allows is then exactly what is dialled, whatever a name
// server says between the check and the call.
class AllowedTargets final : public security::TestGuard {
 public:
  // Allows nothing.
  AllowedTargets() = default;

  // Parses "HOST:PORT" or "HOST:PORT@RATE" each. RATE is the most RPCs per
  // second that all instances of a test together may send there; on a node,
  // those that run there. The error names the target that is wrong.
  static absl::StatusOr<AllowedTargets> Parse(
      const std::vector<std::string>& targets);

  // Whether a valid test calls only allowed targets. PERMISSION_DENIED names
  // the service, the address, and `program`, whose operator could allow it.
  absl::Status Check(const DistributedSystemDescription& test,
                     absl::string_view program) const override;

  // What each instance of a test that passes Check() may send to each target
  // that has a rate: an even share.
  security::InstanceLimits LimitsOf(
      const DistributedSystemDescription& test) const override;

  // On a node, whether `instances` of a test that passes Check() keep to its
  // rates if each sends as much as `shares` allows; a target without a share
  // has no limit there. PERMISSION_DENIED names the target.
  absl::Status CheckLimits(
      const DistributedSystemDescription& test,
      const std::vector<std::string>& instances,
      const security::InstanceLimits& shares) const override;

 private:
  std::map<std::string, double> rates_;  // all allowed targets; 0: any rate
};

// --allow_target=HOST:PORT[@RATE][,...].
class AllowTargetFlag final : public security::GuardFlag {
 public:
  std::string flag() const override;
  std::string type() const override;
  std::string description() const override;
  absl::StatusOr<std::shared_ptr<const security::TestGuard>> MakeGuard(
      const std::vector<std::string>& values) const override;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_ALLOWED_TARGETS_H_
