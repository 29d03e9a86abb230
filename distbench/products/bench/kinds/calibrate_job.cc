// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Sizes the activities of a config to CPU times on this host.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/flags.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/calibrate/calibration.h"

namespace distbench::bench {
namespace {

using Targets = std::map<std::string, absl::Duration>;

// "rank=5ms+parse=200us".
absl::StatusOr<Targets> ParseTargets(const std::string& text) {
  Targets targets;
  for (const absl::string_view part : absl::StrSplit(text, '+')) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const absl::StatusOr<absl::Duration> duration =
        flags::ParseDurationOrSeconds(pair.second);
    if (pair.first.empty() || !duration.ok() ||
        *duration <= absl::ZeroDuration()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target=", config::Quoted(text), ": ", config::Quoted(part),
          " is not a target; "
          "write an activity and a time, as in rank=5ms, and '+' "
          "between them"));
    }
    if (!targets.emplace(pair.first, *duration).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target=: ", config::Quoted(pair.first), " is given twice"));
    }
  }
  return targets;
}

absl::Status CheckTargets(const Targets& targets, const TestSequence& tests) {
  std::vector<std::string> known;
  for (const DistributedSystemDescription& test : tests.tests()) {
    for (const ActivityConfig& activity : test.activity_configs()) {
      known.push_back(activity.name());
    }
  }
  for (const auto& [name, duration] : targets) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "target=: no activity_configs entry is named ", config::Quoted(name),
        "; ", config::Suggestion(name, known)));
  }
  return absl::OkStatus();
}

// Sizes the activity, and adds the settings that changed to the job's outcome
// unless an earlier test had the activity.
absl::Status Size(DistributedSystemDescription& test, int place,
                  absl::Duration target, const JobRun& run) {
  const std::string name = test.activity_configs(place).name();
  const calibrate::CostOptions options = {.cpu_now_ns = &base::ThreadCpuNs};
  const absl::StatusOr<calibrate::SizedActivity> sized =
      calibrate::SizeInTest(test, place, absl::ToDoubleNanoseconds(target),
                            *run.values.Number("tolerance") / 100, options);
  if (!sized.ok()) {
    return absl::Status(sized.status().code(),
                        absl::StrCat(name, ": ", sized.status().message()));
  }
  run.environment.say(
      absl::StrCat("  ", name, ": ", calibrate::SizeText(*sized)));
  for (const NamedSetting& setting : sized->changed) {
    const std::string value_name = absl::StrCat(name, ".", setting.name());
    if (FindNumber(run.job.outcome(), value_name).has_value()) continue;
    AddNumber(value_name, static_cast<double>(setting.int64_value()),
              *run.job.mutable_outcome());
  }
  return absl::OkStatus();
}

class CalibrateJob final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "calibrate",
        "Sizes activities to CPU times on this host, for later jobs of the "
        "same infile",
        {{"infile", PropertyType::kText, "The config", "", true},
         {"target", PropertyType::kText,
          "Activities and the CPU times of an iteration: rank=5ms+parse=200us",
          "", true},
         {"tolerance", PropertyType::kNumber, "Accepted deviation in percent",
          "3"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    absl::StatusOr<TestSequence> tests =
        environment.load_tests(values.Text("infile"));
    if (!tests.ok()) return tests;
    const absl::StatusOr<Targets> targets = ParseTargets(values.Text("target"));
    if (!targets.ok()) return targets.status();
    const absl::Status known = CheckTargets(*targets, *tests);
    if (!known.ok()) return known;
    return tests;
  }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<Targets> targets =
        ParseTargets(run.values.Text("target"));
    if (!targets.ok()) return targets.status();
    run.job.clear_systems();
    *run.job.add_systems() = ReadHostSystem(run.environment.host_root);
    TestSequence tests = run.job.tests();
    for (DistributedSystemDescription& test : *tests.mutable_tests()) {
      for (int i = 0; i < test.activity_configs_size(); ++i) {
        if (run.environment.cancellation->is_cancelled()) {
          return absl::CancelledError("cancelled");
        }
        const auto target = targets->find(test.activity_configs(i).name());
        if (target == targets->end()) continue;
        const absl::Status status = Size(test, i, target->second, run);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // The sizes are the record.
  absl::Status Study(BenchJob& job) const override {
    job.set_exit_code(0);
    return absl::OkStatus();
  }

  std::string ResultText(const BenchJob& job) const override {
    return absl::StrCat("Result: ", ValuesText(job.outcome()), "\n");
  }
};

}  // namespace

const JobKind& CalibrateKind() {
  static const CalibrateJob& kind = *new CalibrateJob();
  return kind;
}

}  // namespace distbench::bench
