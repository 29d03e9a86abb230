// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the traffic language: `controls`, `experiment`, and
// objectives on isolation.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/plugins.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/protection/language/control_sets.h"
#include "distbench/stats/metric.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/experiment.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {
namespace {

// Adds a problem for each name or glob, at path[i], that matches no service.
void CheckServices(
    const config::TestValidation& validation, const config::Path& path,
    const google::protobuf::RepeatedPtrField<std::string>& globs) {
  ServiceGlobs services(validation.names().services.names(),
                        validation.problems());
  for (int i = 0; i < globs.size(); ++i) services.Find(globs[i], path.At(i));
}

// ---- Antagonists ------------------------------------------------------------

class AntagonistCheck {
 public:
  AntagonistCheck(const config::TestValidation& validation,
                  const Antagonist& antagonist, const config::Path& path,
                  const PhaseDurations& phases)
      : validation_(validation),
        antagonist_(antagonist),
        path_(path),
        phases_(phases) {}

  void Run() const {
    CheckActivity();
    CheckThreads();
    CheckRate();
    CheckRamp();
    CheckServices(validation_, path_.Field("placed_with"),
                  antagonist_.placed_with());
    CheckPlaces();
  }

 private:
  template <typename... Parts>
  void Add(absl::string_view field, const Parts&... message) const {
    validation_.Add(path_.Field(field), message...);
  }

  void CheckActivity() const {
    const config::NameIndex& activities = validation_.names().activities;
    if (!IsIncast(antagonist_)) {
      validation_.Resolve(path_.Field("activity"), "activity_configs entry",
                          antagonist_.activity(), activities);
    } else if (activities.Find(kIncastActivity) != config::kNone) {
      Add("activity",
          "\"incast\" is an antagonist of its own, and the name of an "
          "activity_configs entry; rename that one");
    }
  }

  void CheckThreads() const {
    // Engines end their test beyond the limit.
    const int64_t limit = validation_.test().overload_limits().max_threads();
    if (IsIncast(antagonist_) || antagonist_.threads() <= limit) return;
    Add("threads", antagonist_.threads(),
        " are more than overload_limits.max_threads allows a node, ", limit,
        "; use fewer, or raise that");
  }

  void CheckRate() const {
    if (!antagonist_.has_rate() || !IsIncast(antagonist_) ||
        !config::IsRight(antagonist_, "rate")) {
      return;
    }
    // Bursts take place at the multiples of their distance.
    const auto rate = config::ParseRateWithUnit(antagonist_.rate());
    if (absl::Seconds(1 / *rate) <= phases_.interfere) return;
    Add("rate", config::Quoted(antagonist_.rate()),
        " is so slow that the first burst might come after the phase "
        "interfere, ", absl::FormatDuration(phases_.interfere),
        "; raise it, or lengthen that");
  }

  void CheckRamp() const {
    const auto ramp = config::ParseDurationWithUnit(antagonist_.ramp());
    if (!antagonist_.has_ramp() || !ramp.ok()) return;
    if (*ramp > phases_.interfere) {
      Add("ramp", config::Quoted(antagonist_.ramp()),
          " is longer than the phase interfere, ",
          absl::FormatDuration(phases_.interfere),
          "; shorten it, or lengthen that");
    } else if (*ramp > absl::ZeroDuration() && !antagonist_.has_rate() &&
               antagonist_.threads() == 1) {
      Add("ramp",
          "has nothing to grow, as there is one thread without a rate; give "
          "it threads or a rate, or remove the ramp");
    }
  }

  // An antagonist shares a node by being in its bundle. Which node an instance
  // gets for its constraints is known only when the test runs.
  void CheckPlaces() const {
    const DistributedSystemDescription& test = validation_.test();
    if (test.service_constraints().empty() || validation_.problems().full()) {
      return;
    }
    for (const std::string& service : ServicesBeside(test, antagonist_)) {
      const auto found = validation_.FindService(service);
      if (!found.has_value() || IsBundled(*found->service)) continue;
      validation_.Add(path_, "cannot run beside ", config::Quoted(service),
                      ", whose nodes are not known, because the test has "
                      "service_constraints; put each of its instances into "
                      "node_service_bundles");
    }
  }

  bool IsBundled(const ServiceSpec& service) const {
    absl::flat_hash_set<std::string> bundled;
    for (const auto& [alias, bundle] :
         validation_.test().node_service_bundles()) {
      bundled.insert(bundle.services().begin(), bundle.services().end());
    }
    return absl::c_all_of(config::InstanceNames(service),
                          [&](const std::string& instance) {
                            return bundled.contains(instance);
                          });
  }

  const config::TestValidation& validation_;
  const Antagonist& antagonist_;
  const config::Path path_;
  const PhaseDurations& phases_;
};

// The services of one antagonist may have the names of another's, as that of a
// sender does.
void CheckDistinctServices(const config::TestValidation& validation,
                           const config::Path& path) {
  std::map<std::string, int> owners;
  const Experiment& experiment = validation.test().experiment();
  for (int i = 0; i < experiment.antagonists_size(); ++i) {
    const Antagonist& antagonist = experiment.antagonists(i);
    if (antagonist.name().empty()) continue;
    for (const std::string& service : AntagonistServices(antagonist)) {
      const auto [owner, is_new] = owners.emplace(service, i);
      if (is_new) continue;
      validation.Add(path.Field("antagonists").At(i).Field("name"),
                     config::Quoted(antagonist.name()), " gives the service ",
                     config::Quoted(service), ", as does antagonists[",
                     owner->second, "]; names must be unique");
    }
  }
}

// `path` is the experiment's.
void CheckAntagonists(const config::TestValidation& validation,
                      const config::Path& path) {
  const Experiment& experiment = validation.test().experiment();
  const PhaseDurations phases = ReadPhases(experiment.phases());
  for (int i = 0; i < experiment.antagonists_size(); ++i) {
    AntagonistCheck(validation, experiment.antagonists(i),
                    path.Field("antagonists").At(i), phases)
        .Run();
  }
  CheckDistinctServices(validation, path);
}

// ---- Experiments ------------------------------------------------------------

void CheckRpc(const config::TestValidation& validation,
              const config::Path& path) {
  if (validation.test().experiment().subject().has_rpc()) return;
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
  validation.Add(path.Field("rpc"), config::Quoted(rpc),
                 " is sent by open and by closed loops, and only requests of "
                 "the former have response times; give all actions that send "
                 "it a rate, or none, or use another RPC for the others");
}

// The limit above which a request is not goodput.
void CheckObjectiveOfSubject(const config::TestValidation& validation,
                             const config::Path& path) {
  const ExperimentSubject& subject = validation.test().experiment().subject();
  if (!subject.has_objective()) return;
  const config::Path place = path.Field("objective");
  const auto objective = config::ParseObjective(subject.objective());
  if (!objective.ok()) {
    validation.Add(place, objective.status().message());
    return;
  }
  if (objective->metric.kind != stats::Metric::Kind::kPercentile ||
      !objective->is_upper_limit) {
    validation.Add(place, config::Quoted(subject.objective()),
                   " does not limit a percentile of the response time; write "
                   "it like \"p99<=20ms\"");
  }
  const std::string rpc = SubjectRpc(validation.test());
  if (objective->rpc.empty() || rpc.empty() || objective->rpc == rpc) return;
  validation.Add(place, "is about ", config::Quoted(objective->rpc),
                 ", but the subject is ", config::Quoted(rpc),
                 "; leave out the RPC, or correct it");
}

// Returns whether any load is a share of the capacity.
bool CheckLoads(const config::TestValidation& validation,
                const config::Path& path) {
  const ExperimentSubject& subject = validation.test().experiment().subject();
  bool has_share = false;
  for (int i = 0; i < subject.loads_size(); ++i) {
    const auto load = ParseExperimentLoad(subject.loads(i));
    if (!load.ok()) {
      validation.Add(path.Field("loads").At(i), load.status().message());
      continue;
    }
    has_share |= load->is_share;
  }
  if (subject.loads().empty()) return false;
  const std::string rpc = SubjectRpc(validation.test());
  if (!rpc.empty() && OpenLoopRate(validation.test(), rpc) == 0) {
    validation.Add(path.Field("loads"),
                   "there is no rate to set: no action of a service's main "
                   "list sends ", config::Quoted(rpc),
                   " at a rate; give one a rate, or leave out the loads");
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
      validation.Add(place, config::Quoted(subject.capacity()),
                     " is not a rate; write it with its unit, such as 200/s");
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
void CheckFreeNames(const config::TestValidation& validation) {
  using Test = DistributedSystemDescription;
  for (const int field :
       {Test::kServicesFieldNumber, Test::kPayloadDescriptionsFieldNumber,
        Test::kRpcDescriptionsFieldNumber, Test::kActionsFieldNumber,
        Test::kActionListsFieldNumber, Test::kActivityConfigsFieldNumber,
        Test::kActivityPoolsFieldNumber,
        Test::kDelayDistributionConfigsFieldNumber}) {
    const config::Path list = validation.path().Field(
        Test::descriptor()->FindFieldByNumber(field)->name());
    const auto& names = validation.names().Of(field)->names();
    for (int i = 0; i < names.size(); ++i) {
      if (!absl::StartsWith(names[i], kAntagonistPrefix)) continue;
      validation.Add(list.At(i).Field("name"), config::Quoted(names[i]),
                     " begins with ", kAntagonistPrefix,
                     ", as do the names that the experiment adds; rename it");
    }
  }
}

void CheckControls(const config::TestValidation& validation,
                   const config::Path& path) {
  const Experiment& experiment = validation.test().experiment();
  std::vector<std::string> services = validation.names().services.names();
  for (const Antagonist& antagonist : experiment.antagonists()) {
    for (std::string& service : AntagonistServices(antagonist)) {
      services.push_back(std::move(service));
    }
  }
  const config::NameIndex names(experiment.controls());
  for (int i = 0; i < experiment.controls_size(); ++i) {
    ValidateControlSet(
        experiment.controls(i),
        config::ElementPath(path.Field("controls"), names, i), services,
        validation.problems());
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
  if (!config::IsRight(experiment, "repeat")) return;
  const double runs = CountRuns(experiment);
  if (runs <= kMostExperimentRuns) return;
  validation.Add(path, "has ", runs, " runs; at most ", kMostExperimentRuns,
                 " are possible. Use fewer controls, antagonists, loads or "
                 "repeats");
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
  CheckPhases(validation.test().experiment().phases(), path.Field("phases"),
              validation.problems());
  CheckSize(validation, path);
}

// ---- The part ---------------------------------------------------------------

class ProtectionLanguage final : public config::LanguagePart {
 public:
  void Validate(const config::TestValidation& validation) const override {
    ValidateControls(validation);
    ValidateExperiment(validation);
  }

  // Isolation is what a search measures whose probes are cells of an
  // experiment; a plain run of the test has no antagonist.
  bool CheckObjective(const config::TestValidation& validation,
                      const config::Path& path,
                      const config::Objective& objective,
                      bool is_of_search) const override {
    if (!stats::IsIsolation(objective.metric)) return false;
    const std::string text = config::Quoted(objective.text);
    if (!is_of_search) {
      validation.Add(path, text,
                     " is measured beside an antagonist; put it into `search`, "
                     "or give it to `distbench search --slo`");
    } else if (!validation.test().has_experiment()) {
      validation.Add(path, text,
                     " needs an antagonist; add an `experiment` to the test");
    }
    return true;
  }

  void Warn(const DistributedSystemDescription& test, const config::Path& path,
            config::Problems& warnings) const override {
    WarnOfControls(test, path, warnings);
  }

  void AddUsedActivities(const DistributedSystemDescription& test,
                         std::set<std::string>& names) const override {
    for (const Antagonist& antagonist : test.experiment().antagonists()) {
      names.insert(antagonist.activity());
    }
  }
};

const base::Plugin<config::LanguagePart> kLanguage("protection",
                                                   new ProtectionLanguage);

}  // namespace
}  // namespace distbench::protection
