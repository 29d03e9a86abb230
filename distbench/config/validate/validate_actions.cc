#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/arrivals.h"
#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

const std::vector<std::string>& IntervalDistributions() {
  static const auto* const names = new std::vector<std::string>{
      "constant", "exponential", "sync_burst", "sync_burst_spread"};
  return *names;
}

void CheckLimits(const TestValidation& validation, const Path& path,
                 const Action& action) {
  const Iterations& iterations = action.iterations();
  CheckQuantities(iterations, path, validation.problems());
  if (iterations.has_max_iteration_count()) {
    validation.CheckRange(path.Field("max_iteration_count"),
                          iterations.max_iteration_count(), 1, kMaxInt64);
  }
  if (iterations.has_max_duration_us()) {
    validation.CheckRange(path.Field("max_duration_us"),
                          iterations.max_duration_us(), 1, kMaxTimeUs);
  }
  validation.CheckRange(
      path.Field("max_parallel_iterations"),
      iterations.max_parallel_iterations(), 1,
      IsOpenLoop(action) ? kMaxInt64 : kMaxClosedLoopParallelism);
  validation.CheckRange(path.Field("warmup_iterations"),
                        iterations.warmup_iterations(), 0, kMaxInt64);
  validation.CheckRange(path.Field("warmup_ns"), iterations.warmup_ns(), 0,
                        kMaxTimeNs);
}

void CheckOpenLoop(const TestValidation& validation, const Path& path,
                   const Action& action) {
  const Iterations& iterations = action.iterations();
  if (iterations.has_open_loop_interval_ns()) {
    validation.CheckRange(path.Field("open_loop_interval_ns"),
                          iterations.open_loop_interval_ns(), 1,
                          kMaxIntervalNs);
  }
  const std::string& distribution =
      iterations.open_loop_interval_distribution();
  const Path place = path.Field("open_loop_interval_distribution");
  const auto& known = IntervalDistributions();
  if (!distribution.empty() &&
      std::find(known.begin(), known.end(), distribution) == known.end()) {
    validation.Add(place, absl::StrCat(Quoted(distribution),
                                       " is not a distribution of intervals; "
                                       "must be one of ",
                                       QuotedList(known)));
  } else if (!IsOpenLoop(action) && !distribution.empty() &&
             distribution != "constant") {
    validation.Add(place,
                   "has no effect in a closed loop; add rate, such as "
                   "\"200/s\", or remove it");
  }
}

void CheckTarget(const TestValidation& validation, const Path& path,
                 const Action& action) {
  const TestNames& names = validation.names();
  switch (action.action_case()) {
    case Action::kRpcName:
      validation.Resolve(path.Field("rpc_name"), "RPC", action.rpc_name(),
                         names.rpcs);
      break;
    case Action::kActionListName:
      validation.Resolve(path.Field("action_list_name"), "action list",
                         action.action_list_name(), names.lists);
      break;
    case Action::kActivityConfigName:
      validation.Resolve(path.Field("activity_config_name"),
                         "activity_configs entry",
                         action.activity_config_name(), names.activities);
      break;
    case Action::kRpcReplayTraceName:
      validation.Resolve(path.Field("rpc_replay_trace_name"),
                         "RPC replay trace", action.rpc_replay_trace_name(),
                         names.replay_traces);
      break;
    case Action::ACTION_NOT_SET:
      break;
  }
}

void CheckOverrides(const TestValidation& validation, const Path& path,
                    const Action& action) {
  const Path request = path.Field("request_payload_override");
  validation.ResolveOptional(request, "payload_descriptions entry",
                             action.request_payload_override(),
                             validation.names().payloads);
  if (!action.request_payload_override().empty() && !action.has_rpc_name()) {
    validation.Add(request,
                   "has no effect, as this action sends no RPC; remove it or "
                   "set rpc_name");
  }
  validation.ResolveOptional(
      path.Field("response_payload_override"), "payload_descriptions entry",
      action.response_payload_override(), validation.names().payloads);
}

// Checks that names are well-formed. Whether they are defined depends on the
// list.
void CheckPredicates(const TestValidation& validation, const Path& path,
                     const Action& action) {
  for (int i = 0; i < action.predicates_size(); ++i) {
    const std::string& predicate = action.predicates(i);
    if (predicate.empty() || predicate == "!") {
      validation.Add(path.At(i), "is empty; name a predicate");
    } else if (absl::StartsWith(predicate, "!!")) {
      validation.Add(path.At(i), absl::StrCat(Quoted(predicate),
                                              " negates twice; use one '!'"));
    }
  }
  validation.CheckDistinct(path, action.predicates());
}

}  // namespace

void ValidateActions(const TestValidation& validation) {
  for (int i = 0; i < validation.test().actions_size(); ++i) {
    const Action& action = validation.test().actions(i);
    const Path path = validation.Action(i);
    CheckTarget(validation, path, action);
    if (action.has_iterations()) {
      const Path iterations = path.Field("iterations");
      CheckLimits(validation, iterations, action);
      CheckOpenLoop(validation, iterations, action);
      if (action.iterations().has_arrivals()) {
        ValidateArrivals(validation, iterations, action.iterations());
      }
    }
    validation.ResolveOptional(path.Field("delay_distribution_name"),
                               "delay_distribution_configs entry",
                               action.delay_distribution_name(),
                               validation.names().delay_distributions);
    CheckOverrides(validation, path, action);
    CheckPredicates(validation, path.Field("predicates"), action);
    const Path dependencies = path.Field("dependencies");
    for (int j = 0; j < action.dependencies_size(); ++j) {
      validation.Resolve(dependencies.At(j), "action", action.dependencies(j),
                         validation.names().actions);
    }
    validation.CheckDistinct(dependencies, action.dependencies());
  }
}

}  // namespace distbench::config
