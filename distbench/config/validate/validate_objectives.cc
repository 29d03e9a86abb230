// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "distbench/base/plugins.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/validators.h"
#include "distbench/stats/metric.h"

namespace distbench::config {
namespace {

std::vector<std::string> RpcNames(const TestNames& names) {
  std::vector<std::string> all = names.rpcs.names();
  const std::vector<std::string>& traces = names.replay_traces.names();
  all.insert(all.end(), traces.begin(), traces.end());
  return all;
}

// Checks an objective whose metric the core does not measure.
void CheckObjectiveOfProduct(const TestValidation& validation, const Path& path,
                             const Objective& objective, bool is_of_search) {
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    if (part->CheckObjective(validation, path, objective, is_of_search)) return;
  }
  validation.Add(path, Quoted(objective.text),
                 " is measured by a product that this program was built "
                 "without; remove it");
}

// Messages of an echo have round trips, and those of other streams gaps.
void CheckStreamTime(const TestValidation& validation, const Path& path,
                     const std::string& text, const stats::Metric& metric,
                     const RpcSpec* rpc) {
  using Kind = stats::Metric::Kind;
  if (rpc == nullptr || !rpc->has_stream()) {
    validation.Add(path, Quoted(text),
                   " is about the messages of a stream; give the RPC a "
                   "`stream`, or limit p99");
    return;
  }
  const bool is_echo = rpc->stream().response_starts() == "echo";
  const bool needs_echo = metric.kind == Kind::kRoundTrip;
  if (metric.kind == Kind::kFirstMessage || is_echo == needs_echo) return;
  validation.Add(
      path, Quoted(text), " is never measured: ",
      needs_echo ? "only an echo has round trips" : "an echo has no gaps",
      "; limit ", needs_echo ? "gap" : "round_trip", "_p", metric.percent,
      " instead");
}

// Only attempts of an RPC with a policy are counted, and only a quorum has a
// time.
void CheckAttempts(const TestValidation& validation, const Path& path,
                   const Objective& objective, const RpcSpec* rpc) {
  using Kind = stats::Metric::Kind;
  const Kind kind = objective.metric.kind;
  const bool needs_quorum = kind == Kind::kQuorum;
  const bool needs_policy = needs_quorum || kind == Kind::kAttempt ||
                            kind == Kind::kAmplification ||
                            kind == Kind::kWasted;
  if (needs_policy && (rpc == nullptr || !rpc->has_policy())) {
    validation.Add(path, Quoted(objective.text),
                   " is about the attempts of an RPC with a policy; give the "
                   "RPC a `policy`");
  } else if (needs_quorum && !rpc->policy().has_quorum()) {
    validation.Add(path, Quoted(objective.text),
                   " is about a quorum; give the policy of the RPC a `quorum`");
  }
}

}  // namespace

void CheckObjective(const TestValidation& validation, const Path& path,
                    const std::string& text, bool is_of_search) {
  const absl::StatusOr<Objective> objective = ParseObjective(text);
  if (!objective.ok()) {
    validation.Add(path, objective.status().message());
    return;
  }
  if (objective->metric.kind == stats::Metric::Kind::kCpu) return;
  if (!stats::IsOfRpc(objective->metric)) {
    CheckObjectiveOfProduct(validation, path, *objective, is_of_search);
    return;
  }
  const TestNames& names = validation.names();
  const std::vector<std::string> rpcs = RpcNames(names);
  const std::string& name =
      objective->rpc.empty() && rpcs.size() == 1 ? rpcs[0] : objective->rpc;
  const int rpc = names.rpcs.Find(name);
  if (name.empty()) {
    validation.Add(path, Quoted(text), " must name an RPC; the test has ",
                   QuotedList(rpcs));
  } else if (rpc == kNone && names.replay_traces.Find(name) == kNone) {
    validation.Add(path, "no RPC is named ", Quoted(name), "; ",
                   Suggestion(name, rpcs));
  } else {
    const RpcSpec* spec =
        rpc == kNone ? nullptr : &validation.test().rpc_descriptions(rpc);
    CheckAttempts(validation, path, *objective, spec);
    if (stats::IsOfStream(objective->metric)) {
      CheckStreamTime(validation, path, text, objective->metric, spec);
    }
  }
}

void ValidateObjectives(const TestValidation& validation) {
  const Path path = validation.path().Field("objectives");
  for (int i = 0; i < validation.test().objectives_size(); ++i) {
    CheckObjective(validation, path.At(i), validation.test().objectives(i),
                   /*is_of_search=*/false);
  }
}

}  // namespace distbench::config
