// The addresses of external services that tests may call: none, unless the
// operators of the sequencer and of the nodes say so.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_TARGETS_ALLOWED_TARGETS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_TARGETS_ALLOWED_TARGETS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/syntax/external_services.h"
#include "proto/traffic_config.pb.h"

namespace distbench::external {

// Immutable. Addresses are compared as they are written and are never resolved:
// what an operator allows is then exactly what is dialled, whatever a name
// server says between the check and the call.
class AllowedTargets {
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
                     absl::string_view program) const;

  // What each instance of a test that passes Check() may send to each target
  // that has a rate: an even share.
  config::TargetRates SharesOf(const DistributedSystemDescription& test) const;

  // On a node, whether `instances` of a test that passes Check() keep to its
  // rates if each sends as much as `shares` allows; a target without a share
  // has no limit there. PERMISSION_DENIED names the target.
  absl::Status CheckShares(const DistributedSystemDescription& test,
                           const std::vector<std::string>& instances,
                           const config::TargetRates& shares) const;

 private:
  config::TargetRates rates_;  // all allowed targets; 0: any rate
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_TARGETS_ALLOWED_TARGETS_H_
