// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/allowed_targets.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/external/external_services.h"

namespace distbench::external {
namespace {

// Shares have been divided and added up again.
constexpr double kRounding = 1e-9;

// RPCs per second; 0 if the text is no rate.
double ParseRate(absl::string_view text) {
  double rate;
  if (!absl::SimpleAtod(text, &rate) || !std::isfinite(rate) || rate < 0) {
    return 0;
  }
  return rate;
}

}  // namespace

absl::StatusOr<AllowedTargets> AllowedTargets::Parse(
    const std::vector<std::string>& targets) {
  AllowedTargets allowed;
  for (const std::string& target : targets) {
    const size_t at = target.find('@');
    const std::string address = target.substr(0, at);
    const auto error = [&target](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat("allowed target \"", target, "\" ", what));
    };
    if (absl::Status status = CheckHostPort(address); !status.ok()) {
      return error(status.message());
    }
    double rate = 0;
    if (at != std::string::npos) {
      rate = ParseRate(absl::string_view(target).substr(at + 1));
      if (rate == 0) {
        return error(
            "has no rate behind its @; write RPCs per second, more than 0, or "
            "leave the @ out");
      }
    }
    if (!allowed.rates_.emplace(address, rate).second) {
      return error("is given twice; remove one");
    }
  }
  return allowed;
}

absl::Status AllowedTargets::Check(const DistributedSystemDescription& test,
                                   absl::string_view program) const {
  for (const ServiceSpec& service : test.services()) {
    for (const std::string& address : service.external().addresses()) {
      if (rates_.contains(address)) continue;
      return absl::PermissionDeniedError(absl::StrCat(
          "service \"", service.name(), "\" is external at ", address,
          ", which this ", program, " does not allow tests to call (",
          rates_.empty()
              ? "it allows no address"
              : absl::StrCat("it allows ",
                             absl::StrJoin(rates_, ", ",
                                           [](std::string* out, const auto& t) {
                                             out->append(t.first);
                                           })),
          "); start it with --allow_target=", address,
          " if the owner of that service agrees"));
    }
  }
  return absl::OkStatus();
}

security::InstanceLimits AllowedTargets::LimitsOf(
    const DistributedSystemDescription& test) const {
  security::InstanceLimits shares;
  for (const auto& [address, clients] : ClientsByTarget(test)) {
    const auto allowed = rates_.find(address);
    if (allowed == rates_.end() || allowed->second == 0) continue;
    int64_t callers = 0;
    for (const ServiceSpec& service : test.services()) {
      if (clients.contains(service.name())) callers += service.count();
    }
    shares[address] = allowed->second / static_cast<double>(callers);
  }
  return shares;
}

absl::Status AllowedTargets::CheckLimits(
    const DistributedSystemDescription& test,
    const std::vector<std::string>& instances,
    const security::InstanceLimits& shares) const {
  for (const auto& [address, clients] : ClientsByTarget(test)) {
    const auto allowed = rates_.find(address);
    if (allowed == rates_.end() || allowed->second == 0) continue;
    const auto callers =
        absl::c_count_if(instances, [&clients = clients](const auto& name) {
          return clients.contains(config::ServiceOf(name));
        });
    if (callers == 0) continue;
    const auto share = shares.find(address);
    const double rate = share == shares.end()
                            ? HUGE_VAL
                            : share->second * static_cast<double>(callers);
    // A share of 0 stands for no limit, as everywhere; one that is not a number
    // is none either.
    if (rate > 0 && rate <= allowed->second * (1 + kRounding)) continue;
    return absl::PermissionDeniedError(absl::StrCat(
        "this node allows ", allowed->second, " RPCs per second to ", address,
        ", and the sequencer gives its instances ",
        std::isfinite(rate) && rate > 0 ? absl::StrCat(rate) : "no limit",
        "; start test_sequencer with --allow_target=", address,
        "@RATE and a rate that leaves this node no more than that"));
  }
  return absl::OkStatus();
}

std::string AllowTargetFlag::flag() const { return "--allow_target"; }

std::string AllowTargetFlag::type() const { return "HOST:PORT[@RATE][,...]"; }

std::string AllowTargetFlag::description() const {
  return "External services that tests may call, as the tests\n"
         "write their addresses; @RATE: at most so many RPCs per\n"
         "second; default: none";
}

absl::StatusOr<std::shared_ptr<const security::TestGuard>>
AllowTargetFlag::MakeGuard(const std::vector<std::string>& values) const {
  absl::StatusOr<AllowedTargets> allowed = AllowedTargets::Parse(values);
  if (!allowed.ok()) return allowed.status();
  return std::make_shared<const AllowedTargets>(*std::move(allowed));
}

}  // namespace distbench::external
