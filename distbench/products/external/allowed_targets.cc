// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/allowed_targets.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/host_port.h"
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

Finding PinnedFinding(const ServiceSpec& service, const std::string& target,
                      const std::vector<std::string>& addresses) {
  Finding finding;
  finding.set_severity(Finding::NOTE);
  finding.set_code(kAddressesFinding);
  finding.set_message(absl::StrCat(
      service.name(), ": ", target, " stood for ",
      absl::StrJoin(addresses, ", "),
      " when the test began, and these were called until its end"));
  finding.set_advice(
      "Compare runs whose names stood for the same servers, or as many.");
  return finding;
}

}  // namespace

absl::StatusOr<AllowedTargets> AllowedTargets::Parse(
    const std::vector<std::string>& targets, NameResolver resolve) {
  AllowedTargets allowed;
  allowed.resolve_ = std::move(resolve);
  for (const std::string& target : targets) {
    const size_t at = target.find('@');
    const std::string address = target.substr(0, at);
    const auto error = [&target](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat("allowed target \"", target, "\" ", what));
    };
    if (IsName(address)) {
      return error(
          "is a name for addresses, and whoever controls it could add others; "
          "write these, such as 10.0.0.1:9000 or 10.0.0.0/24:9000");
    }
    const std::optional<AddressRange> range = AddressRange::Parse(address);
    if (!range.has_value()) {
      absl::Status status = CheckHostPort(address);
      if (!status.ok()) return error(status.message());
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
    if (range.has_value()) allowed.ranges_.emplace_back(*range, address);
  }
  return allowed;
}

const std::pair<const std::string, double>* AllowedTargets::Find(
    const std::string& address) const {
  if (const auto same = rates_.find(address); same != rates_.end()) {
    return &*same;
  }
  const std::optional<AddressRange> single = AddressRange::Parse(address);
  if (!single.has_value()) return nullptr;
  const std::pair<AddressRange, std::string>* narrowest = nullptr;
  for (const auto& range : ranges_) {
    if (!range.first.Contains(*single)) continue;
    if (narrowest == nullptr || narrowest->first.bits() < range.first.bits()) {
      narrowest = &range;
    }
  }
  return narrowest == nullptr ? nullptr : &*rates_.find(narrowest->second);
}

// In words.
std::string AllowedTargets::Known() const {
  if (rates_.empty()) return "it allows no address";
  return absl::StrCat(
      "it allows ",
      absl::StrJoin(rates_, ", ", [](std::string* out, const auto& target) {
        out->append(target.first);
      }));
}

absl::Status AllowedTargets::Check(const DistributedSystemDescription& test,
                                   absl::string_view program) const {
  for (const ServiceSpec& service : test.services()) {
    for (const std::string& address : service.external().addresses()) {
      const bool is_name = IsName(address);
      // Some address has to be allowed for a name to be.
      if (is_name ? !rates_.empty() : Find(address) != nullptr) continue;
      return absl::PermissionDeniedError(absl::StrCat(
          "service \"", service.name(), "\" is external at ", address,
          ", which this ", program, " does not allow tests to call (", Known(),
          "); start it with --allow_target=",
          is_name ? "ADDRESS:PORT of each address of that name" : address,
          " if the owner of that service agrees"));
    }
  }
  return absl::OkStatus();
}

std::map<std::string, AllowedTargets::Use> AllowedTargets::UsesOf(
    const DistributedSystemDescription& test, const Pinned& pinned) {
  std::map<std::string, Use> uses;
  const auto add = [&uses](const std::string& address, std::string key,
                           const std::set<std::string>& clients) {
    Use& use = uses[address];
    use.keys.push_back(std::move(key));
    use.clients.insert(clients.begin(), clients.end());
  };
  for (const auto& [target, clients] : ClientsByTarget(test)) {
    if (!IsName(target)) {
      add(target, target, clients);
      continue;
    }
    const auto found = pinned.find(target);
    if (found == pinned.end()) continue;
    for (const std::string& address : found->second) {
      add(address, PinnedKey(target, address), clients);
    }
  }
  return uses;
}

// Looks a name up, and checks all that it stands for.
absl::StatusOr<std::vector<std::string>> AllowedTargets::Resolve(
    absl::string_view service, const std::string& target) const {
  const auto [host, port] = base::SplitHostPort(HostPortOfTarget(target));
  int number = 0;
  (void)absl::SimpleAtoi(port, &number);  // CheckTarget() has seen it
  const absl::StatusOr<std::vector<std::string>> found = resolve_(host);
  if (!found.ok() || found->empty()) {
    return absl::UnavailableError(
        absl::StrCat("cannot look up the addresses of ", target,
                     ", where service \"", service, "\" is external: ",
                     found.ok() ? "it has none" : found.status().message()));
  }
  std::set<std::string> addresses;
  for (const std::string& ip : *found) {
    addresses.insert(base::JoinHostPort(ip, number));
  }
  std::vector<std::string> all(addresses.begin(), addresses.end());
  absl::Status allowed =
      CheckPinned(absl::StrCat("service \"", service, "\" is external at ",
                               target, ", which"),
                  all, "test sequencer");
  if (!allowed.ok()) return allowed;
  return all;
}

absl::StatusOr<security::TestLimits> AllowedTargets::LimitsOf(
    const DistributedSystemDescription& test) const {
  security::TestLimits limits;
  Pinned pinned;
  for (const ServiceSpec& service : test.services()) {
    for (const std::string& target : service.external().addresses()) {
      if (!IsName(target) || pinned.contains(target)) continue;
      auto addresses = Resolve(service.name(), target);
      if (!addresses.ok()) return addresses.status();
      limits.findings.push_back(PinnedFinding(service, target, *addresses));
      pinned[target] = *std::move(addresses);
    }
  }
  for (const auto& [address, use] : UsesOf(test, pinned)) {
    const auto* const allowed = Find(address);
    const double rate = allowed == nullptr ? 0 : allowed->second;
    int64_t callers = 0;
    for (const ServiceSpec& service : test.services()) {
      if (use.clients.contains(service.name())) callers += service.count();
    }
    for (const std::string& key : use.keys) {
      if (rate == 0 && !IsName(key)) continue;
      limits.limits[key] = rate / static_cast<double>(callers);
    }
  }
  return limits;
}

absl::Status AllowedTargets::CheckLimits(
    const DistributedSystemDescription& test,
    const std::vector<std::string>& instances,
    const security::InstanceLimits& shares) const {
  const auto count_callers =
      [&instances](const std::set<std::string>& clients) {
        return absl::c_count_if(instances, [&clients](const std::string& name) {
          return clients.contains(config::ServiceOf(name));
        });
      };
  Pinned pinned;
  for (const auto& [target, clients] : ClientsByTarget(test)) {
    if (!IsName(target) || count_callers(clients) == 0) continue;
    for (const auto& [address, share] : PinnedAddresses(target, shares)) {
      pinned[target].push_back(address);
    }
    if (pinned[target].empty()) {
      return absl::PermissionDeniedError(absl::StrCat(
          "the sequencer says of no address that ", target, " stands for it"));
    }
    absl::Status allowed = CheckPinned(target, pinned[target], "node manager");
    if (!allowed.ok()) return allowed;
  }
  for (const auto& [address, use] : UsesOf(test, pinned)) {
    const auto callers = count_callers(use.clients);
    if (callers == 0) continue;
    for (const std::string& key : use.keys) {
      const auto share = shares.find(key);
      absl::Status kept = CheckRate(
          address, share == shares.end()
                       ? HUGE_VAL
                       : share->second * static_cast<double>(callers));
      if (!kept.ok()) return kept;
    }
  }
  return absl::OkStatus();
}

// Whether all addresses that a name stands for are allowed. `whose` begins the
// error, and `program` is who does not allow it.
absl::Status AllowedTargets::CheckPinned(
    absl::string_view whose, const std::vector<std::string>& addresses,
    absl::string_view program) const {
  for (const std::string& address : addresses) {
    if (Find(address) != nullptr) continue;
    return absl::PermissionDeniedError(absl::StrCat(
        whose, " stands for ", absl::StrJoin(addresses, ", "),
        " now, and this ", program, " does not allow tests to call ", address,
        " (", Known(), "); start it with --allow_target=", address,
        " if the owner of that server agrees"));
  }
  return absl::OkStatus();
}

// Whether a node allows so many RPCs per second to an allowed address.
absl::Status AllowedTargets::CheckRate(const std::string& address,
                                       double rate) const {
  const auto* const allowed = Find(address);
  if (allowed == nullptr || allowed->second == 0) return absl::OkStatus();
  // A share of 0 stands for no limit, as everywhere; one that is not a number
  // is none either.
  if (rate > 0 && rate <= allowed->second * (1 + kRounding)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "this node allows ", allowed->second, " RPCs per second to ", address,
      ", and the sequencer gives its instances ",
      std::isfinite(rate) && rate > 0 ? absl::StrCat(rate) : "no limit",
      "; start test_sequencer with --allow_target=", address,
      "@RATE and a rate that leaves this node no more than that"));
}

std::string AllowTargetFlag::flag() const { return "--allow_target"; }

std::string AllowTargetFlag::type() const { return "HOST:PORT[@RATE][,...]"; }

std::string AllowTargetFlag::description() const {
  return "External services that tests may call, as the tests\n"
         "write their addresses, or ranges (10.0.0.0/24:PORT);\n"
         "@RATE: at most so many RPCs per second; default: none";
}

absl::StatusOr<std::shared_ptr<const security::TestGuard>>
AllowTargetFlag::MakeGuard(const std::vector<std::string>& values) const {
  absl::StatusOr<AllowedTargets> allowed = AllowedTargets::Parse(values);
  if (!allowed.ok()) return allowed.status();
  return std::make_shared<const AllowedTargets>(*std::move(allowed));
}

}  // namespace distbench::external
