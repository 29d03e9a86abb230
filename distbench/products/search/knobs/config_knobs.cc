#include "distbench/products/search/knobs/config_knobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/traffic.h"

namespace distbench::search {
namespace {

// The limits of configs.
constexpr double kMaxConcurrency = 1'000'000;
constexpr double kMaxPayloadBytes = 2'147'483'647;

bool NoneIsTurned(const Action&) { return false; }

// The mean rate per second of all open loops of main lists, all instances
// together.
double OfferedRate(const DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  double rate = 0;
  for (const Action& action : test.actions()) {
    const auto found = main_actions.find(action.name());
    if (found == main_actions.end()) continue;
    rate += static_cast<double>(found->second) *
            config::MeanRatePerSecond(action.iterations());
  }
  return rate;
}

}  // namespace

absl::StatusOr<RateKnob> RateKnob::Make(DistributedSystemDescription test) {
  const absl::Status status = CheckKnob({}, test);
  if (!status.ok()) return status;
  const double load = OfferedRate(test);
  if (load <= 0) {
    return absl::InvalidArgumentError(
        "there is no rate to vary: the arrivals have a mean rate of 0; give "
        "them a max_duration within which something arrives");
  }
  return RateKnob(std::move(test), load);
}

RateKnob::RateKnob(DistributedSystemDescription test, double base_load)
    : test_(std::move(test)), base_load_(base_load) {}

absl::StatusOr<DistributedSystemDescription> RateKnob::At(
    double load, const ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  TimeProbe(timing, config::IsOpenLoop, test);
  // Of a rate that varies, the mean depends on the probe's duration.
  const double offered = OfferedRate(test);
  const double factor = load / (offered > 0 ? offered : base_load_);
  for (Action& action : *test.mutable_actions()) {
    if (!config::IsOpenLoop(action)) continue;
    Iterations& iterations = *action.mutable_iterations();
    iterations.set_open_loop_interval_ns(std::max<int64_t>(
        1, std::llround(iterations.open_loop_interval_ns() / factor)));
  }
  return test;
}

ConcurrencyKnob::ConcurrencyKnob(DistributedSystemDescription test,
                                 std::string action)
    : test_(std::move(test)), action_(std::move(action)) {
  const std::map<std::string, int64_t> main_actions =
      config::MainActions(test_);
  for (const Action& each : test_.actions()) {
    if (!IsTurned(each) || !main_actions.contains(each.name())) continue;
    base_load_ = std::max<double>(base_load_,
                                  each.iterations().max_parallel_iterations());
  }
}

double ConcurrencyKnob::max_load() const { return kMaxConcurrency; }

bool ConcurrencyKnob::IsTurned(const Action& action) const {
  return action_.empty() ? config::IsClosedLoop(action)
                         : action.name() == action_;
}

absl::StatusOr<DistributedSystemDescription> ConcurrencyKnob::At(
    double load, const ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  for (Action& action : *test.mutable_actions()) {
    if (!IsTurned(action) || !main_actions.contains(action.name())) continue;
    action.mutable_iterations()->set_max_parallel_iterations(
        std::llround(load));
  }
  TimeProbe(
      timing, [this](const Action& action) { return IsTurned(action); }, test);
  return test;
}

PayloadKnob::PayloadKnob(DistributedSystemDescription test, std::string payload)
    : test_(std::move(test)), payload_(std::move(payload)) {
  for (const PayloadSpec& each : test_.payload_descriptions()) {
    if (each.name() == payload_) base_load_ = std::max<double>(1, each.size());
  }
}

double PayloadKnob::max_load() const { return kMaxPayloadBytes; }

absl::StatusOr<DistributedSystemDescription> PayloadKnob::At(
    double load, const ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  for (PayloadSpec& each : *test.mutable_payload_descriptions()) {
    if (each.name() == payload_) each.set_size(std::llround(load));
  }
  TimeProbe(timing, NoneIsTurned, test);
  return test;
}

FanoutKnob::FanoutKnob(DistributedSystemDescription test, std::string rpc)
    : test_(std::move(test)), rpc_(std::move(rpc)) {
  for (const RpcSpec& each : test_.rpc_descriptions()) {
    if (each.name() != rpc_) continue;
    const auto fanout = config::ParseFanoutFilter(each.fanout_filter());
    if (fanout.ok() && !fanout->choices.empty()) {
      base_load_ = std::max(1, fanout->choices.front().target_count);
    }
    for (const ServiceSpec& service : test_.services()) {
      if (service.name() == each.server()) max_load_ = service.count();
    }
  }
}

absl::StatusOr<DistributedSystemDescription> FanoutKnob::At(
    double load, const ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  for (RpcSpec& each : *test.mutable_rpc_descriptions()) {
    if (each.name() == rpc_) {
      each.set_fanout_filter(
          absl::StrCat("stochastic{1:", std::llround(load), "}"));
    }
  }
  TimeProbe(timing, NoneIsTurned, test);
  return test;
}

}  // namespace distbench::search
