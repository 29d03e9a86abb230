// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/knobs/knobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/check.h"
#include "test_builder/building/config_string.h"
#include "test_builder/building/test_factory.h"

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

namespace {

bool IsNumber(const test_builder::Parameter& parameter) {
  return parameter.type() == test_builder::Parameter::INTEGER ||
         parameter.type() == test_builder::Parameter::NUMBER;
}

absl::StatusOr<test_builder::ValueMap> ReadSettings(const std::string& config) {
  const absl::StatusOr<std::vector<test_builder::Setting>> settings =
      test_builder::ParseConfig(config);
  if (!settings.ok()) return settings.status();
  absl::StatusOr<std::vector<test_builder::SettingsVariant>> variants =
      test_builder::ExpandValueLists(*settings);
  if (!variants.ok()) return variants.status();
  if (variants->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(config), " stands for ", variants->size(),
                     " tests; a search needs exactly one"));
  }
  return std::move(variants->front().settings);
}

absl::StatusOr<test_builder::Parameter> FindNumber(
    const test_builder::ValueMap& settings, const std::string& name) {
  const absl::StatusOr<test_builder::Vocabulary> vocabulary =
      test_builder::Vocabulary::For(settings);
  if (!vocabulary.ok()) return vocabulary.status();
  const test_builder::Parameter* const parameter = vocabulary->Find(name);
  if (parameter != nullptr && IsNumber(*parameter)) return *parameter;
  std::vector<std::string> names;
  for (const test_builder::Parameter& each : vocabulary->parameters()) {
    if (IsNumber(each)) names.push_back(each.name());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      parameter == nullptr ? "there is no parameter "
                           : "not a numeric parameter: ",
      config::Quoted(name), "; ", config::Suggestion(name, names)));
}

// A probe ignores the duration that the test specifies.
bool AlwaysTurned(const Action&) { return true; }

}  // namespace

absl::StatusOr<std::unique_ptr<BuilderKnob>> BuilderKnob::Make(
    const std::string& config, const std::string& parameter) {
  absl::StatusOr<test_builder::ValueMap> settings = ReadSettings(config);
  if (!settings.ok()) return settings.status();
  absl::StatusOr<test_builder::Parameter> found =
      FindNumber(*settings, parameter);
  if (!found.ok()) return found.status();
  const auto given = settings->find(parameter);
  double base_load = 0;
  if (!absl::SimpleAtod(
          given == settings->end() ? found->default_value() : given->second,
          &base_load) ||
      base_load <= 0) {
    base_load = std::max(1.0, found->minimum());
  }
  auto knob = std::unique_ptr<BuilderKnob>(new BuilderKnob(
      *std::move(settings), config, *std::move(found), base_load));
  const absl::Status status = knob->Build(base_load).status();
  if (!status.ok()) return status;
  return knob;
}

BuilderKnob::BuilderKnob(test_builder::ValueMap settings, std::string label,
                         test_builder::Parameter parameter, double base_load)
    : settings_(std::move(settings)),
      label_(std::move(label)),
      parameter_(std::move(parameter)),
      base_load_(base_load) {}

double BuilderKnob::min_load() const {
  const double lowest = is_whole() ? 1 : 0.001;
  return std::max(lowest, parameter_.minimum());
}

absl::StatusOr<DistributedSystemDescription> BuilderKnob::Build(
    double load) const {
  test_builder::TestRequest request = {.settings = settings_,
                                       .config_label = label_};
  request.settings[parameter_.name()] = is_whole()
                                            ? absl::StrCat(std::llround(load))
                                            : absl::StrFormat("%.9g", load);
  test_builder::Notes notes;
  absl::StatusOr<DistributedSystemDescription> test =
      test_builder::BuildTest(request, notes);
  if (!test.ok()) return test.status();
  TestSequence sequence;
  *sequence.add_tests() = *std::move(test);
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) return checked.status();
  return std::move(*checked->mutable_tests(0));
}

absl::StatusOr<DistributedSystemDescription> BuilderKnob::At(
    double load, const ProbeTiming& timing) const {
  absl::StatusOr<DistributedSystemDescription> test = Build(load);
  if (test.ok()) TimeProbe(timing, AlwaysTurned, *test);
  return test;
}

}  // namespace distbench::search
