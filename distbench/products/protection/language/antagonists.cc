#include "distbench/products/protection/language/antagonists.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/products/protection/experiment/antagonist_names.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/protection/experiment/subject.h"

namespace distbench::protection {
namespace {

constexpr int64_t kMaxPerNode = 1024;
constexpr int64_t kMaxSenders = 1000;

// Room for the prefix and the suffix of a service's name.
constexpr size_t kMaxAntagonistName = config::kMaxNameLength / 2;

bool IsNameChar(unsigned char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
}

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
    CheckName();
    CheckActivity();
    CheckNumbers();
    CheckRate();
    CheckRamp();
    CheckIncast();
    CheckServices(validation_, path_.Field("placed_with"),
                  antagonist_.placed_with());
    CheckPlaces();
  }

 private:
  void Add(absl::string_view field, std::string message) const {
    validation_.Add(path_.Field(field), std::move(message));
  }

  void CheckName() const {
    const std::string& name = antagonist_.name();
    if (name.empty()) {
      Add("name", "is missing; give it a name");
    } else if (name.size() > kMaxAntagonistName) {
      Add("name", absl::StrCat("is longer than ", kMaxAntagonistName,
                               " characters; shorten it"));
    } else if (!absl::c_all_of(name, IsNameChar)) {
      Add("name", absl::StrCat(config::Quoted(name),
                               " has characters that no antagonist's name may "
                               "have; use letters, digits, '_', '-' and '.'"));
    }
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

  void CheckNumbers() const {
    validation_.CheckRange(path_.Field("instances"), antagonist_.instances(), 1,
                           kMaxPerNode);
    validation_.CheckRange(path_.Field("threads"), antagonist_.threads(), 1,
                           config::kMaxActivityPoolSize);
    // Engines end their test beyond the limit.
    const int64_t limit = validation_.test().overload_limits().max_threads();
    if (IsIncast(antagonist_) || antagonist_.threads() <= limit) return;
    Add("threads",
        absl::StrCat(antagonist_.threads(),
                     " are more than overload_limits.max_threads allows a "
                     "node, ",
                     limit, "; use fewer, or raise that"));
  }

  void CheckRate() const {
    if (!antagonist_.has_rate()) return;
    const auto rate = config::ParseRateWithUnit(antagonist_.rate());
    if (!rate.ok()) {
      Add("rate", std::string(rate.status().message()));
      return;
    }
    // Each step of a ramp is a loop of its own, with a part of the rate.
    const double longest_ns = base::kNsPerSecond / (*rate / kRateRampSteps);
    const double shortest_ns = base::kNsPerSecond / *rate;
    if (!(shortest_ns >= 1 && longest_ns <= config::kMaxIntervalNs)) {
      Add("rate", absl::StrCat(config::Quoted(antagonist_.rate()),
                               " is out of range; must be from 0.036/h to "
                               "1000M/s"));
    } else if (IsIncast(antagonist_) &&
               absl::Nanoseconds(shortest_ns) > phases_.interfere) {
      // Bursts take place at the multiples of their distance.
      Add("rate", absl::StrCat(config::Quoted(antagonist_.rate()),
                               " is so slow that the first burst might come "
                               "after the phase interfere, ",
                               absl::FormatDuration(phases_.interfere),
                               "; raise it, or lengthen that"));
    }
  }

  void CheckRamp() const {
    if (!antagonist_.has_ramp()) return;
    const auto ramp = config::ParseDurationWithUnit(antagonist_.ramp());
    if (!ramp.ok()) {
      Add("ramp", std::string(ramp.status().message()));
    } else if (*ramp > phases_.interfere) {
      Add("ramp", absl::StrCat(config::Quoted(antagonist_.ramp()),
                               " is longer than the phase interfere, ",
                               absl::FormatDuration(phases_.interfere),
                               "; shorten it, or lengthen that"));
    } else if (*ramp > absl::ZeroDuration() && !antagonist_.has_rate() &&
               antagonist_.threads() == 1) {
      Add("ramp",
          "has nothing to grow, as there is one thread without a rate; give "
          "it threads or a rate, or remove the ramp");
    }
  }

  void CheckIncast() const {
    if (!IsIncast(antagonist_)) {
      constexpr char kNoEffect[] =
          "has no effect on an activity; remove it, or use the activity "
          "\"incast\"";
      if (antagonist_.has_senders()) Add("senders", kNoEffect);
      if (antagonist_.has_message_size()) Add("message_size", kNoEffect);
      return;
    }
    validation_.CheckRange(path_.Field("senders"), antagonist_.senders(), 1,
                           kMaxSenders);
    if (!antagonist_.has_message_size()) {
      Add("message_size",
          "is missing; give the size of each message, such as \"64KiB\"");
      return;
    }
    const auto size = config::ParseSizeWithUnit(antagonist_.message_size());
    if (!size.ok()) {
      Add("message_size", std::string(size.status().message()));
    } else if (*size > config::kMaxSizeBytes) {
      Add("message_size",
          absl::StrCat(config::Quoted(antagonist_.message_size()),
                       " is out of range; must be from 0B to ",
                       config::kMaxSizeBytes, "B"));
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
      validation_.Add(
          path_,
          absl::StrCat("cannot run beside ", config::Quoted(service),
                       ", whose nodes are not known, because the test has "
                       "service_constraints; put each of its instances into "
                       "node_service_bundles"));
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
      validation.Add(
          path.Field("antagonists").At(i).Field("name"),
          absl::StrCat(config::Quoted(antagonist.name()), " gives the service ",
                       config::Quoted(service), ", as does antagonists[",
                       owner->second, "]; names must be unique"));
    }
  }
}

}  // namespace

void CheckServices(
    const config::TestValidation& validation, const config::Path& path,
    const google::protobuf::RepeatedPtrField<std::string>& globs) {
  const std::vector<std::string>& services =
      validation.names().services.names();
  const int64_t tries = static_cast<int64_t>(globs.size()) *
                        static_cast<int64_t>(services.size());
  if (tries > config::kMaxConditionsTried) {
    validation.Add(path, absl::StrCat("has ", globs.size(),
                                      " names, too many to try each on ",
                                      services.size(), " services; use fewer"));
    return;
  }
  for (int i = 0; i < globs.size(); ++i) {
    const std::string& glob = globs[i];
    if (glob.size() > config::kMaxGlobLength) {
      validation.Add(path.At(i),
                     absl::StrCat("is longer than ", config::kMaxGlobLength,
                                  " bytes; shorten it"));
      continue;
    }
    const bool matches =
        absl::c_any_of(services, [&](const std::string& service) {
          return service.size() <= config::kMaxNameLength &&
                 config::GlobMatches(glob, service);
        });
    if (matches || validation.problems().full()) continue;
    validation.Add(path.At(i),
                   absl::StrCat("no service is named ", config::Quoted(glob),
                                "; ", config::Suggestion(glob, services)));
  }
}

void CheckAntagonists(const config::TestValidation& validation,
                      const config::Path& path) {
  const Experiment& experiment = validation.test().experiment();
  config::Problems reported_with_phases;
  const PhaseDurations phases =
      ReadPhases(experiment.phases(), path, reported_with_phases);
  for (int i = 0; i < experiment.antagonists_size(); ++i) {
    AntagonistCheck(validation, experiment.antagonists(i),
                    path.Field("antagonists").At(i), phases)
        .Run();
  }
  CheckDistinctServices(validation, path);
}

}  // namespace distbench::protection
