// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/judgement/hopeless_watch.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_format.h"
#include "distbench/config/arrivals/compile_arrivals.h"

namespace distbench::search {
namespace {

// Beyond this factor of the limit, a measurement only tells the search that the
// load missed (see probe_history.cc).
constexpr double kFarFactor = 3;

// Of a normal distribution: 3 in 100,000 are further above the mean.
constexpr double kBeyondChance = 4;

// Reports cover past seconds, and take a moment to arrive.
constexpr absl::Duration kReportDelay = absl::Milliseconds(1500);

// The RPCs to which response times in progress reports belong. Actions that are
// not RPCs appear as an empty name.
std::set<std::string> OpenLoopRpcs(const DistributedSystemDescription& test) {
  std::set<std::string> rpcs;
  for (const Action& action : test.actions()) {
    if (action.iterations().has_open_loop_interval_ns()) {
      rpcs.insert(action.rpc_name());
    }
  }
  return rpcs;
}

// The most nodes of which each reports once a second. More report more rarely
// (StartTraffic.progress_interval_ns), so that a report covers neither all RPCs
// so far nor only those since the warm-up.
constexpr int kMostSteadyReporters = 1000;

bool MayReportRarely(const DistributedSystemDescription& test, int copies) {
  int64_t instance_count = 0;  // at least one per node
  for (const ServiceSpec& service : test.services()) {
    instance_count += service.count();
  }
  return copies * instance_count > kMostSteadyReporters;
}

// The index of dispersion of iterations, at least that of random ones.
double MostDispersion(const DistributedSystemDescription& test) {
  double most = 1;
  for (const Action& action : test.actions()) {
    if (!action.iterations().has_open_loop_interval_ns()) continue;
    most = std::max(most, config::IndexOfDispersion(config::CompileArrivals(
                              action.iterations().arrivals())));
  }
  return most;
}

// At most how many RPCs an iteration sends at once.
double MostTargets(const DistributedSystemDescription& test) {
  double most = 1;
  for (const ServiceSpec& service : test.services()) {
    most = std::max(most, static_cast<double>(service.count()));
  }
  return most;
}

}  // namespace

HopelessWatch::HopelessWatch(const DistributedSystemDescription& test,
                             absl::Span<const config::Objective> objectives,
                             const ProbeTiming& timing, int copies)
    : timing_(timing) {
  // What has come so far may then not tell what is still to come.
  if (config::HasVaryingRate(test) || MayReportRarely(test, copies)) return;
  const std::set<std::string> rpcs = OpenLoopRpcs(test);
  if (rpcs.size() != 1 || rpcs.begin()->empty()) return;
  dispersion_ = MostDispersion(test) * MostTargets(test);
  for (const config::Objective& objective : objectives) {
    if (objective.metric.kind != stats::Metric::Kind::kPercentile ||
        !objective.is_upper_limit) {
      continue;
    }
    const bool is_only_rpc =
        objective.rpc.empty() && test.rpc_descriptions_size() == 1;
    if (!is_only_rpc && objective.rpc != *rpcs.begin()) continue;
    limits_.push_back({.text = objective.text,
                       .quantile = objective.metric.percent / 100,
                       .limit_ns = objective.limit});
  }
}

namespace {

// How many of the times are longer.
double CountBeyond(double limit_ns, const stats::LogHistogram& times_ns) {
  return static_cast<double>(times_ns.count()) -
         static_cast<double>(
             times_ns.CountAtMost(static_cast<int64_t>(limit_ns)));
}

}  // namespace

bool HopelessWatch::Add(const TrafficProgress& progress,
                        absl::Duration elapsed) {
  if (limits_.empty() || elapsed < timing_.warmup + kReportDelay ||
      elapsed > timing_.warmup + timing_.measured) {
    return false;
  }
  recent_.Add(progress);
  const double due = MostDue(progress, elapsed);
  for (const Limit& limit : limits_) {
    const double far_count =
        CountBeyond(kFarFactor * limit.limit_ns, recent_.times().response_ns);
    const double slow_count =
        CountBeyond(limit.limit_ns, recent_.times().service_ns);
    const double allowed_count = (1 - limit.quantile) * due;
    if (std::min(far_count, slow_count) <= allowed_count || far_count == 0) {
      continue;
    }
    evidence_ = absl::StrFormat(
        "%s: ended after %.0f s, because %.0f of at most %.0f responses due "
        "took more than %g times the limit",
        limit.text, absl::ToDoubleSeconds(elapsed), far_count, due, kFarFactor);
    return true;
  }
  return false;
}

// How many RPCs may be due in the measured time. Of `offered` RPCs over the
// time t that the report surely covers, m = offered * measured / t are
// expected. With the index of dispersion D, the error of that has the variance
// D * due * (1 + measured / t), because both counts are random; `due` is so
// high that m is kBeyondChance standard deviations below it.
double HopelessWatch::MostDue(const TrafficProgress& progress,
                              absl::Duration elapsed) const {
  const double ratio =
      absl::FDivDuration(timing_.measured, elapsed - kReportDelay);
  const double expected = static_cast<double>(progress.offered_count()) * ratio;
  const double half = kBeyondChance * std::sqrt(dispersion_ * (1 + ratio)) / 2;
  const double root = half + std::sqrt(half * half + expected);
  return root * root;
}

}  // namespace distbench::search
