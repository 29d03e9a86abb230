// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// ---- Single actions ---------------------------------------------------------

// How many iterations may run at once depends on the kind of loop.
void CheckParallelism(const TestValidation& validation, const Path& path,
                      const Action& action) {
  validation.CheckRange(path.Field("max_parallel_iterations"),
                        action.iterations().max_parallel_iterations(), 1,
                        IsOpenLoop(action) ? std::numeric_limits<int64_t>::max()
                                           : kMaxClosedLoopParallelism);
}

// What an instance receives must be what it waits for: the RPC tells nothing of
// the caller, so that there must be only one.
void CheckReceived(const TestValidation& validation, const Path& path,
                   const Action& action) {
  const int index = validation.names().rpcs.Find(action.receive_rpc_name());
  if (!action.has_receive_rpc_name() || index == kNone) return;
  const RpcSpec& rpc = validation.test().rpc_descriptions(index);
  const auto refuse = [&](auto... why) {
    validation.Add(path, "RPC ", Quoted(rpc.name()), why...);
  };
  const auto fanout = ParseFanoutFilter(rpc.fanout_filter());
  if (rpc.has_stream()) {
    refuse(" streams; receive an RPC without a stream");
  } else if (rpc.has_policy()) {
    refuse(" has a policy, which may send a request twice; remove that");
  } else if (!rpc.multi_server_channel_name().empty()) {
    refuse(
        " uses a multi-server channel, which may call an instance by "
        "several others; remove that");
  } else if (rpc.client_size() > 1) {
    refuse(" has ", rpc.client_size(),
           " client services, whose requests cannot be told apart; use an RPC "
           "for each");
  } else if (fanout.ok() && !CallsEachOnce(*fanout)) {
    refuse(
        " may call an instance by several others, whose requests cannot be "
        "told apart; use a fanout_filter such as ",
        QuotedList(FiltersThatCallEachOnce()));
  }
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
      validation.Add(path.At(i), Quoted(predicate),
                     " negates twice; use one '!'");
    }
  }
}

// ---- Action lists -----------------------------------------------------------

class ListValidation {
 public:
  ListValidation(const TestValidation& validation, int index)
      : validation_(validation),
        list_(validation.test().action_lists(index)),
        path_(validation.List(index)),
        predicates_(list_.predicate_probabilities().begin(),
                    list_.predicate_probabilities().end()) {
    for (const auto& [name, probability] : predicates_) {
      predicate_names_.push_back(name);
    }
  }

  void Validate() {
    CheckProbabilities();
    for (int i = 0; i < list_.action_names_size(); ++i) CheckEntry(i);
  }

 private:
  void CheckProbabilities() const {
    const Path all = path_.Field("predicate_probabilities");
    for (const auto& [name, probability] : predicates_) {
      if (name.empty()) {
        validation_.Add(all.At(name), "is missing; name the predicate");
      } else if (absl::StartsWith(name, "!")) {
        validation_.Add(all.At(name),
                        "must not begin with '!', which negates a predicate "
                        "where an action names it");
      }
      // Written so that NaN is rejected.
      if (!(probability >= 0 && probability <= 1)) {
        validation_.Add(all.At(name), probability,
                        " is not a probability; must be from 0 to 1");
      }
    }
  }

  void CheckEntry(int position) {
    const std::string& name = list_.action_names(position);
    const int index = validation_.names().actions.Find(name);
    // The first entry of an action has been checked; the others are the same.
    if (index == kNone || earlier_.count(index) > 0) return;
    CheckDependencies(index);
    CheckPredicates(index);
    earlier_.insert(index);
  }

  void CheckDependencies(int action_index) const {
    const Action& action = validation_.test().actions(action_index);
    for (int i = 0; i < action.dependencies_size(); ++i) {
      const int dependency =
          validation_.names().actions.Find(action.dependencies(i));
      if (dependency == kNone || earlier_.count(dependency) > 0) continue;
      validation_.Add(
          validation_.Action(action_index).Field("dependencies").At(i),
          "action list ", Quoted(list_.name()), " does not have ",
          Quoted(action.dependencies(i)), " before ", Quoted(action.name()),
          "; an action can only depend on earlier ones in its list");
    }
  }

  void CheckPredicates(int action_index) const {
    const Action& action = validation_.test().actions(action_index);
    for (int i = 0; i < action.predicates_size(); ++i) {
      absl::string_view name = action.predicates(i);
      absl::ConsumePrefix(&name, "!");
      // An empty or negated name is reported with the action.
      if (name.empty() || absl::StartsWith(name, "!")) continue;
      if (predicates_.count(std::string(name)) > 0) continue;
      validation_.Add(
          validation_.Action(action_index).Field("predicates").At(i),
          "action list ", Quoted(list_.name()), " has no predicate ",
          Quoted(name), " among its predicate_probabilities; ",
          Suggestion(name, predicate_names_));
    }
  }

  const TestValidation& validation_;
  const ActionList& list_;
  const Path path_;
  const std::map<std::string, float> predicates_;
  std::vector<std::string> predicate_names_;
  std::set<int> earlier_;  // actions at earlier positions
};

}  // namespace

void ValidateActions(const TestValidation& validation) {
  for (int i = 0; i < validation.test().actions_size(); ++i) {
    const Action& action = validation.test().actions(i);
    const Path path = validation.Action(i);
    if (action.has_iterations()) {
      const Path iterations = path.Field("iterations");
      CheckParallelism(validation, iterations, action);
      if (action.iterations().has_arrivals()) {
        CheckArrivalsBetweenFields(action.iterations().arrivals(),
                                   iterations.Field("arrivals"),
                                   validation.problems());
      }
    }
    CheckPredicates(validation, path.Field("predicates"), action);
    CheckReceived(validation, path.Field("receive_rpc_name"), action);
    const int rpc = validation.names().rpcs.Find(action.rpc_name());
    if (rpc == kNone) continue;
    CheckSizesByInstance(validation, path.Field("request_payload_override"),
                         action.request_payload_override(),
                         validation.test().rpc_descriptions(rpc));
  }
}

void ValidateActionLists(const TestValidation& validation) {
  for (int i = 0; i < validation.test().action_lists_size(); ++i) {
    ListValidation(validation, i).Validate();
  }
}

}  // namespace distbench::config
