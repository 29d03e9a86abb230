#include "distbench/search/judgement/hopeless_watch.h"

#include <algorithm>
#include <set>
#include <variant>

#include "absl/strings/str_format.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/results/histogram_proto.h"

namespace distbench {
namespace {

// Beyond this factor of the limit, a measurement only tells the search that the
// load missed (see crossing.cc).
constexpr double kFarFactor = 3;

// Random arrivals may exceed their expected number.
constexpr double kMoreThanExpected = 1.1;

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

// Whether what has come so far may not tell what is still to come.
bool RateMayChange(const DistributedSystemDescription& test) {
  return std::any_of(test.actions().begin(), test.actions().end(),
                     [](const Action& action) {
                       return HasVaryingRate(action.iterations().arrivals());
                     });
}

}  // namespace

HopelessWatch::HopelessWatch(const DistributedSystemDescription& test,
                             absl::Span<const Objective> objectives,
                             const ProbeTiming& timing)
    : timing_(timing) {
  if (RateMayChange(test)) return;
  const std::set<std::string> rpcs = OpenLoopRpcs(test);
  if (rpcs.size() != 1 || rpcs.begin()->empty()) return;
  for (const Objective& objective : objectives) {
    const auto* metric = std::get_if<Metric>(&objective.metric);
    if (metric == nullptr || metric->kind != Metric::Kind::kPercentile ||
        !objective.is_upper_limit) {
      continue;
    }
    const bool is_only_rpc =
        objective.rpc.empty() && test.rpc_descriptions_size() == 1;
    if (!is_only_rpc && objective.rpc != *rpcs.begin()) continue;
    limits_.push_back({.text = objective.text,
                       .quantile = metric->percent / 100,
                       .limit_ns = objective.limit});
  }
}

bool HopelessWatch::Add(const TrafficProgress& progress,
                        absl::Duration elapsed) {
  if (limits_.empty() || elapsed < timing_.warmup + kReportDelay ||
      elapsed > timing_.warmup + timing_.measured) {
    return false;
  }
  // A damaged histogram adds nothing.
  AddHistogram(progress.recent_response_time_ns(), response_time_ns_)
      .IgnoreError();
  const double due_per_second =
      progress.offered_count() / absl::ToDoubleSeconds(elapsed);
  const double due = due_per_second * kMoreThanExpected *
                     absl::ToDoubleSeconds(timing_.measured);
  for (const Limit& limit : limits_) {
    const double far_ns = kFarFactor * limit.limit_ns;
    const double far_count = static_cast<double>(response_time_ns_.count()) -
                             static_cast<double>(response_time_ns_.CountAtMost(
                                 static_cast<int64_t>(far_ns)));
    if (far_count <= (1 - limit.quantile) * due || far_count == 0) continue;
    evidence_ = absl::StrFormat(
        "%s: ended after %.0f s, because %.0f of %.0f responses due took "
        "more than %g times the limit",
        limit.text, absl::ToDoubleSeconds(elapsed), far_count,
        due / kMoreThanExpected, kFarFactor);
    return true;
  }
  return false;
}

}  // namespace distbench
