#include "distbench/products/protection/language/experiment.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/protection/experiment/antagonist_names.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/protection/experiment/subject.h"
#include "distbench/products/protection/language/antagonists.h"
#include "distbench/products/protection/language/control_sets.h"

namespace distbench::protection {
namespace {

constexpr int64_t kMaxRepeat = 1000;

void CheckRpc(const config::TestValidation& validation,
              const config::Path& path) {
  const std::string& rpc = validation.test().experiment().subject().rpc();
  if (!rpc.empty()) {
    validation.Resolve(path.Field("rpc"), "RPC", rpc, validation.names().rpcs);
    return;
  }
  const std::vector<std::string> roots = RootRpcs(validation.test());
  if (roots.size() == 1 || validation.problems().full()) return;
  validation.Add(
      path.Field("rpc"),
      absl::StrCat(
          "is missing, and main lists send ",
          roots.empty() ? "none" : "several",
          "; name the RPC whose protection is measured",
          roots.empty()
              ? ""
              : absl::StrCat(", such as ", config::Quoted(roots.front()))));
}

// Those of closed loops would be in no measure: it is the response times that
// are compared.
void CheckLoops(const config::TestValidation& validation,
                const config::Path& path) {
  const std::string rpc = SubjectRpc(validation.test());
  if (rpc.empty() || OpenLoopRate(validation.test(), rpc) == 0 ||
      !HasClosedLoop(validation.test(), rpc)) {
    return;
  }
  validation.Add(
      path.Field("rpc"),
      absl::StrCat(config::Quoted(rpc),
                   " is sent by open and by closed loops, and only requests of "
                   "the former have response times; give all actions that send "
                   "it a rate, or none, or use another RPC for the others"));
}

// The limit above which a request is not goodput.
void CheckObjectiveOfSubject(const config::TestValidation& validation,
                             const config::Path& path) {
  const ExperimentSubject& subject = validation.test().experiment().subject();
  if (!subject.has_objective()) return;
  const config::Path place = path.Field("objective");
  const auto objective = config::ParseObjective(subject.objective());
  if (!objective.ok()) {
    validation.Add(place, std::string(objective.status().message()));
    return;
  }
  const auto* const metric = std::get_if<stats::Metric>(&objective->metric);
  if (metric == nullptr || metric->kind != stats::Metric::Kind::kPercentile ||
      !objective->is_upper_limit) {
    validation.Add(place,
                   absl::StrCat(config::Quoted(subject.objective()),
                                " does not limit a percentile of the response "
                                "time; write it like \"p99<=20ms\""));
  }
  const std::string rpc = SubjectRpc(validation.test());
  if (objective->rpc.empty() || rpc.empty() || objective->rpc == rpc) return;
  validation.Add(place,
                 absl::StrCat("is about ", config::Quoted(objective->rpc),
                              ", but the subject is ", config::Quoted(rpc),
                              "; leave out the RPC, or correct it"));
}

// Returns whether any load is a share of the capacity.
bool CheckLoads(const config::TestValidation& validation,
                const config::Path& path) {
  const ExperimentSubject& subject = validation.test().experiment().subject();
  bool has_share = false;
  for (int i = 0; i < subject.loads_size(); ++i) {
    const auto load = ParseExperimentLoad(subject.loads(i));
    if (!load.ok()) {
      validation.Add(path.Field("loads").At(i),
                     std::string(load.status().message()));
      continue;
    }
    has_share |= load->is_share;
  }
  validation.CheckDistinct(path.Field("loads"), subject.loads());
  if (subject.loads().empty()) return false;
  const std::string rpc = SubjectRpc(validation.test());
  if (!rpc.empty() && OpenLoopRate(validation.test(), rpc) == 0) {
    validation.Add(
        path.Field("loads"),
        absl::StrCat("there is no rate to set: no action of a service's main "
                     "list sends ",
                     config::Quoted(rpc),
                     " at a rate; give one a rate, or leave out the loads"));
  }
  return has_share;
}

void CheckCapacity(const config::TestValidation& validation,
                   const config::Path& path, bool has_share) {
  const ExperimentSubject& subject = validation.test().experiment().subject();
  const config::Path place = path.Field("capacity");
  if (subject.has_capacity()) {
    const auto capacity = ParseExperimentLoad(subject.capacity());
    if (!capacity.ok() || capacity->is_share) {
      validation.Add(place, absl::StrCat(config::Quoted(subject.capacity()),
                                         " is not a rate; write it with its "
                                         "unit, such as 200/s"));
    } else if (!has_share) {
      validation.Add(place,
                     "has no effect, as no load is a share of it; write a "
                     "load such as \"80%\", or remove it");
    }
  } else if (has_share && !subject.has_objective()) {
    validation.Add(place,
                   "is missing, and cannot be searched for without an "
                   "objective; give either, as there are loads in percent");
  }
}

// Names that would be taken by antagonists.
template <typename Elements>
void CheckFree(const config::TestValidation& validation,
               const Elements& elements, absl::string_view field) {
  for (int i = 0; i < elements.size(); ++i) {
    if (!absl::StartsWith(elements[i].name(), kAntagonistPrefix)) continue;
    validation.Add(
        validation.path().Field(field).At(i).Field("name"),
        absl::StrCat(config::Quoted(elements[i].name()), " begins with ",
                     kAntagonistPrefix,
                     ", as do the names that the experiment adds; rename it"));
  }
}

void CheckFreeNames(const config::TestValidation& validation) {
  const DistributedSystemDescription& test = validation.test();
  CheckFree(validation, test.services(), "services");
  CheckFree(validation, test.payload_descriptions(), "payload_descriptions");
  CheckFree(validation, test.rpc_descriptions(), "rpc_descriptions");
  CheckFree(validation, test.actions(), "actions");
  CheckFree(validation, test.action_lists(), "action_lists");
  CheckFree(validation, test.activity_configs(), "activity_configs");
  CheckFree(validation, test.activity_pools(), "activity_pools");
  CheckFree(validation, test.delay_distribution_configs(),
            "delay_distribution_configs");
}

void CheckControls(const config::TestValidation& validation,
                   const config::Path& path) {
  const DistributedSystemDescription& test = validation.test();
  if (test.has_controls()) {
    validation.Add(validation.path().Field("controls"),
                   "excludes experiment, whose cells have controls of their "
                   "own; move them to experiment.controls");
  }
  std::vector<std::string> services = validation.names().services.names();
  for (const Antagonist& antagonist : test.experiment().antagonists()) {
    for (std::string& service : AntagonistServices(antagonist)) {
      services.push_back(std::move(service));
    }
  }
  absl::flat_hash_set<std::string> names;
  for (int i = 0; i < test.experiment().controls_size(); ++i) {
    const ControlSet& controls = test.experiment().controls(i);
    const config::Path place = path.Field("controls").At(i);
    if (controls.name().empty()) {
      validation.Add(place.Field("name"), "is missing; give it a name");
    } else if (!names.insert(controls.name()).second) {
      validation.Add(place.Field("name"),
                     absl::StrCat(config::Quoted(controls.name()),
                                  " is the name of another set as well; names "
                                  "must be unique"));
    }
    ValidateControlSet(controls, place, services, validation.problems());
  }
}

// Whether there is an action that lasts.
bool HasLoop(const DistributedSystemDescription& test) {
  const auto main_actions = config::MainActions(test);
  for (const Action& action : test.actions()) {
    if (action.has_iterations() && main_actions.contains(action.name())) {
      return true;
    }
  }
  return false;
}

void CheckSize(const config::TestValidation& validation,
               const config::Path& path) {
  const Experiment& experiment = validation.test().experiment();
  validation.CheckRange(path.Field("repeat"), experiment.repeat(), 1,
                        kMaxRepeat);
  if (experiment.repeat() < 1 || experiment.repeat() > kMaxRepeat) return;
  const double runs = CountRuns(experiment);
  if (runs <= kMostExperimentRuns) return;
  validation.Add(
      path, absl::StrCat("has ", runs, " runs; at most ", kMostExperimentRuns,
                         " are possible. Use fewer controls, "
                         "antagonists, loads or repeats"));
}

}  // namespace

void CanonicalizeExperiment(Experiment& experiment) {
  for (ControlSet& controls : *experiment.mutable_controls()) {
    CanonicalizeControlSet(controls);
  }
  if (experiment.has_subject() && experiment.subject().rpc().empty()) {
    experiment.mutable_subject()->clear_rpc();
  }
}

void ValidateExperiment(const config::TestValidation& validation) {
  if (!validation.test().has_experiment()) return;
  const config::Path path = validation.path().Field("experiment");
  const config::Path subject = path.Field("subject");
  CheckRpc(validation, subject);
  CheckLoops(validation, subject);
  CheckObjectiveOfSubject(validation, subject);
  CheckCapacity(validation, subject, CheckLoads(validation, subject));
  CheckServices(validation, subject.Field("services"),
                validation.test().experiment().subject().services());
  if (!HasLoop(validation.test())) {
    validation.Add(path,
                   "has nothing to measure: no action of a service's main "
                   "list has iterations, so there is no load that lasts");
  }
  CheckFreeNames(validation);
  CheckAntagonists(validation, path);
  CheckControls(validation, path);
  ReadPhases(validation.test().experiment().phases(), path.Field("phases"),
             validation.problems());
  CheckSize(validation, path);
}

}  // namespace distbench::protection
