// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The addresses of external services that tests may call: none, unless the
// operators of the sequencer and of the nodes say so.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_ALLOWED_TARGETS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_ALLOWED_TARGETS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/external/name_resolver.h"
#include "distbench/security/test_guards.h"
#include "proto/traffic_config.pb.h"

namespace distbench::external {

// Immutable. The names of hosts are compared as they are written, and IP
// addresses as such. A test's "dns:///HOST:PORT" is looked up once, on the
// sequencer when the test begins. Each of its addresses then must be allowed,
// by the sequencer and by the nodes. They reach the engines in the limits, so
// that what was checked is exactly what is dialled.
class AllowedTargets final : public security::TestGuard {
 public:
  // Allows nothing.
  AllowedTargets() = default;

  // Parses "HOST:PORT" or "HOST:PORT@RATE" each. RATE is the most RPCs per
  // second that all instances of a test together may send there; on a node,
  // those that run there. The host may be a range of IP addresses
  // ("10.0.0.0/24"), each of which may get that rate; of several ranges with an
  // address, the narrowest says its rate. The error names the target that is
  // wrong.
  static absl::StatusOr<AllowedTargets> Parse(
      const std::vector<std::string>& targets,
      NameResolver resolve = ResolveBySystem);

  // Whether a valid test calls only allowed targets, as far as that can be said
  // without looking names up. PERMISSION_DENIED names the service, the address,
  // and `program`, whose operator could allow it.
  absl::Status Check(const DistributedSystemDescription& test,
                     absl::string_view program) const override;

  // What each instance of a test that passes Check() may send to each target
  // that has a rate: an even share. And for each address of a "dns:///" target,
  // by PinnedKey(): a share, or 0 if it has no rate; a finding says which
  // addresses these are.
  absl::StatusOr<security::TestLimits> LimitsOf(
      const DistributedSystemDescription& test) const override;

  // On a node, whether `instances` of a test that passes Check() keep to its
  // rates if each sends as much as `shares` allows; a target without a share
  // has no limit there. And whether all addresses that `shares` has for the
  // "dns:///" targets of these instances are allowed. PERMISSION_DENIED names
  // the target.
  absl::Status CheckLimits(
      const DistributedSystemDescription& test,
      const std::vector<std::string>& instances,
      const security::InstanceLimits& shares) const override;

 private:
  // The addresses of each name.
  using Pinned = std::map<std::string, std::vector<std::string>>;

  // Those who send to an address, under one name or several.
  struct Use {
    std::set<std::string> clients;  // services
    std::vector<std::string> keys;  // of limits
  };

  static std::map<std::string, Use> UsesOf(
      const DistributedSystemDescription& test, const Pinned& pinned);

  // Null if the address is not allowed. A rate of 0 is any.
  const std::pair<const std::string, double>* Find(
      const std::string& address) const;
  std::string Known() const;
  absl::StatusOr<std::vector<std::string>> Resolve(
      absl::string_view service, const std::string& target) const;
  absl::Status CheckPinned(absl::string_view whose,
                           const std::vector<std::string>& addresses,
                           absl::string_view program) const;
  absl::Status CheckRate(const std::string& address, double rate) const;

  NameResolver resolve_ = ResolveBySystem;
  std::map<std::string, double> rates_;  // all allowed targets
  std::vector<std::pair<AddressRange, std::string>> ranges_;  // those of IP
};

// --allow_target=HOST[/BITS]:PORT[@RATE][,...].
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
