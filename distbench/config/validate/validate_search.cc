#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/search/knob_name.h"
#include "distbench/config/search/objective.h"
#include "distbench/config/syntax/response_start.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

std::vector<std::string> RpcNames(const TestNames& names) {
  std::vector<std::string> all = names.rpcs.names();
  const std::vector<std::string>& traces = names.replay_traces.names();
  all.insert(all.end(), traces.begin(), traces.end());
  return all;
}

// Checks an objective that no plain run of a test can be judged by.
void CheckObjectiveOfProduct(const TestValidation& validation, const Path& path,
                             const Objective& objective, bool is_of_search) {
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    if (part->CheckObjective(validation, path, objective, is_of_search)) return;
  }
  validation.Add(path, absl::StrCat(Quoted(objective.text),
                                    " is measured by a product that this "
                                    "program was built without; remove it"));
}

// Messages of an echo have round trips, and those of other streams gaps.
void CheckStreamTime(const TestValidation& validation, const Path& path,
                     const std::string& text, const StreamTime& time,
                     const RpcSpec* rpc) {
  if (rpc == nullptr || !rpc->has_stream()) {
    validation.Add(path, absl::StrCat(Quoted(text),
                                      " is about the messages of a stream; "
                                      "give the RPC a `stream`, or limit p99"));
    return;
  }
  const auto start = ParseResponseStart(rpc->stream().response_starts());
  const bool is_echo = start.ok() && *start == StreamPlan::Start::kEcho;
  const bool needs_echo = time.kind == StreamTime::Kind::kRoundTrip;
  if (time.kind == StreamTime::Kind::kFirstMessage || is_echo == needs_echo) {
    return;
  }
  validation.Add(
      path, absl::StrCat(Quoted(text), " is never measured: ",
                         needs_echo ? "only an echo has round trips"
                                    : "an echo has no gaps",
                         "; limit ", needs_echo ? "gap" : "round_trip", "_p",
                         time.percent, " instead"));
}

// Only attempts of an RPC with a policy are counted, and only a quorum has a
// time.
void CheckAttempts(const TestValidation& validation, const Path& path,
                   const Objective& objective, const RpcSpec* rpc) {
  const auto* metric = std::get_if<stats::Metric>(&objective.metric);
  const auto* time = std::get_if<AttemptTime>(&objective.metric);
  const bool needs_quorum =
      time != nullptr && time->kind == AttemptTime::Kind::kQuorum;
  const bool needs_policy =
      time != nullptr ||
      (metric != nullptr &&
       (metric->kind == stats::Metric::Kind::kAmplification ||
        metric->kind == stats::Metric::Kind::kWasted));
  if (needs_policy && (rpc == nullptr || !rpc->has_policy())) {
    validation.Add(path, absl::StrCat(Quoted(objective.text),
                                      " is about the attempts of an RPC with a "
                                      "policy; give the RPC a `policy`"));
  } else if (needs_quorum && !rpc->policy().has_quorum()) {
    validation.Add(path, absl::StrCat(Quoted(objective.text),
                                      " is about a quorum; give the policy of "
                                      "the RPC a `quorum`"));
  }
}

// `is_of_search`: rather than of all runs of the test.
void CheckObjective(const TestValidation& validation, const Path& path,
                    const std::string& text, bool is_of_search) {
  const absl::StatusOr<Objective> objective = ParseObjective(text);
  if (!objective.ok()) {
    validation.Add(path, std::string(objective.status().message()));
    return;
  }
  if (std::holds_alternative<HostCpu>(objective->metric)) return;
  if (std::holds_alternative<Isolation>(objective->metric)) {
    CheckObjectiveOfProduct(validation, path, *objective, is_of_search);
    return;
  }
  const TestNames& names = validation.names();
  const std::vector<std::string> rpcs = RpcNames(names);
  const std::string& name =
      objective->rpc.empty() && rpcs.size() == 1 ? rpcs[0] : objective->rpc;
  const int rpc = names.rpcs.Find(name);
  if (name.empty()) {
    validation.Add(
        path, absl::StrCat(Quoted(text), " must name an RPC; the test has ",
                           QuotedList(rpcs)));
  } else if (rpc == kNone && names.replay_traces.Find(name) == kNone) {
    validation.Add(path, absl::StrCat("no RPC is named ", Quoted(name), "; ",
                                      Suggestion(name, rpcs)));
  } else {
    const RpcSpec* spec =
        rpc == kNone ? nullptr : &validation.test().rpc_descriptions(rpc);
    CheckAttempts(validation, path, *objective, spec);
    if (const auto* time = std::get_if<StreamTime>(&objective->metric)) {
      CheckStreamTime(validation, path, text, *time, spec);
    }
  }
}

void CheckKnobOf(const TestValidation& validation, const Path& path,
                 const std::string& text) {
  const absl::StatusOr<KnobName> knob = ParseKnobName(text);
  if (!knob.ok()) {
    validation.Add(path, std::string(knob.status().message()));
  } else if (knob->kind == KnobName::Kind::kBuilder) {
    validation.Add(path,
                   "a builder's knob generates its own tests instead of this "
                   "one; give it to `distbench search --knob`");
  } else if (absl::Status status = CheckKnob(*knob, validation.test());
             !status.ok()) {
    validation.Add(path, std::string(status.message()));
  }
}

void CheckNumber(const TestValidation& validation, const Path& path,
                 double value, double minimum, double maximum) {
  if (value >= minimum && value <= maximum) return;
  validation.Add(path, absl::StrCat(value, " is out of range; must be from ",
                                    minimum, " to ", maximum));
}

void CheckLoads(const TestValidation& validation, const Path& path,
                const LoadSearchSpec& search) {
  const auto check = [&](const char* field, bool is_given, double load) {
    if (!is_given || (load > 0 && load <= kMaxSearchLoad)) return;
    validation.Add(path.Field(field),
                   absl::StrCat(load,
                                " is not a load; must be above 0, and at "
                                "most ",
                                kMaxSearchLoad));
  };
  check("min_load", search.has_min_load(), search.min_load());
  check("max_load", search.has_max_load(), search.max_load());
  check("initial_load", search.has_initial_load(), search.initial_load());
  if (search.has_min_load() && search.has_max_load() &&
      search.min_load() > search.max_load()) {
    validation.Add(path.Field("min_load"),
                   absl::StrCat(search.min_load(), " is above max_load, ",
                                search.max_load(), "; must be at most that"));
  }
}

}  // namespace

void ValidateObjectives(const TestValidation& validation) {
  const Path path = validation.path().Field("objectives");
  for (int i = 0; i < validation.test().objectives_size(); ++i) {
    CheckObjective(validation, path.At(i), validation.test().objectives(i),
                   /*is_of_search=*/false);
  }
}

void ValidateSearch(const TestValidation& validation) {
  if (!validation.test().has_search()) return;
  const LoadSearchSpec& search = validation.test().search();
  const Path path = validation.path().Field("search");
  for (int i = 0; i < search.objectives_size(); ++i) {
    CheckObjective(validation, path.Field("objectives").At(i),
                   search.objectives(i), /*is_of_search=*/true);
  }
  // If the config names no knob, a flag may name a better one than the default.
  if (search.has_knob()) {
    CheckKnobOf(validation, path.Field("knob"), search.knob());
  }
  CheckLoads(validation, path, search);
  if (search.has_tolerance()) {
    CheckNumber(validation, path.Field("tolerance"), search.tolerance(),
                kMinSearchTolerance, kMaxSearchTolerance);
  }
  if (search.has_max_probes()) {
    validation.CheckRange(path.Field("max_probes"), search.max_probes(),
                          kMinSearchProbes, kMaxSearchProbes);
  }
  CheckQuantities(search, path, validation.problems());
  const auto check_time = [&](const char* field, bool is_given, int64_t us) {
    if (is_given) validation.CheckRange(path.Field(field), us, 1, kMaxTimeUs);
  };
  check_time("warmup_us", search.has_warmup_us(), search.warmup_us());
  check_time("probe_duration_us", search.has_probe_duration_us(),
             search.probe_duration_us());
  check_time("final_duration_us", search.has_final_duration_us(),
             search.final_duration_us());
}

}  // namespace distbench::config
