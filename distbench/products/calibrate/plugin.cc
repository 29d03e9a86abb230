// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/load.h"
#include "distbench/flags/flags.h"
#include "distbench/products/calibrate/calibration.h"
#include "distbench/report/findings/findings.h"
#include "distbench/results/output_file.h"
#include "proto/traffic_config.pb.h"

namespace distbench::calibrate {
namespace {

using cli::Command;
using cli::HelpSection;

struct CalibrateFlags {
  std::string infile = "-";
  std::string outfile;
  std::vector<std::string> activities;  // names; empty: all
  std::vector<std::string> targets;     // NAME=DURATION
  absl::Duration round = absl::Milliseconds(200);
  int rounds = 5;
  double tolerance_percent = 3;
};

using Targets = std::map<std::string, absl::Duration>;

absl::StatusOr<Targets> ParseTargets(const std::vector<std::string>& texts) {
  Targets targets;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const absl::Duration duration =
        flags::ParseDurationOrSeconds(text.substr(equals + 1))
            .value_or(absl::ZeroDuration());
    if (equals == std::string::npos || equals == 0 ||
        duration == absl::ZeroDuration()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--target: ", config::Quoted(text),
          " is not a target; write an activity and a time, as in rank=5000us"));
    }
    if (!targets.emplace(text.substr(0, equals), duration).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--target: ", config::Quoted(text.substr(0, equals)),
                       " already has a target; give only one"));
    }
  }
  return targets;
}

// Checks that the activities named by the flags exist.
absl::Status CheckNames(const TestSequence& tests, const CalibrateFlags& flags,
                        const Targets& targets) {
  std::set<std::string> known;
  for (const DistributedSystemDescription& test : tests.tests()) {
    for (const ActivityConfig& activity : test.activity_configs()) {
      known.insert(activity.name());
    }
  }
  const std::vector<std::string> names(known.begin(), known.end());
  const auto check = [&](const char* flag,
                         const std::string& name) -> absl::Status {
    if (known.count(name) > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        flag, ": no activity_configs entry is named ", config::Quoted(name),
        "; ", config::Suggestion(name, names)));
  };
  for (const std::string& name : flags.activities) {
    if (absl::Status status = check("--activity", name); !status.ok()) {
      return status;
    }
  }
  for (const auto& [name, target] : targets) {
    if (absl::Status status = check("--target", name); !status.ok()) {
      return status;
    }
  }
  if (known.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        flags.infile, ": no test has activity_configs; there is nothing to ",
        "calibrate"));
  }
  return absl::OkStatus();
}

absl::Status CheckGiven(const CalibrateFlags& flags, const Targets& targets) {
  if (flags.outfile.empty() != targets.empty()) {
    return absl::InvalidArgumentError(
        flags.outfile.empty()
            ? "--target needs --outfile, which receives the changed config"
            : "--outfile needs --target; without one nothing changes");
  }
  for (const std::string& name : flags.activities) {
    if (targets.empty()) break;
    return absl::InvalidArgumentError(
        absl::StrCat("--activity=", name,
                     " has no effect with --target, which selects activities ",
                     "itself; remove one of them"));
  }
  return absl::OkStatus();
}

CostOptions MeasuringOptions(const CalibrateFlags& flags) {
  return {.rounds = flags.rounds,
          .round_ns = absl::ToDoubleNanoseconds(flags.round),
          .cpu_now_ns = &base::ThreadCpuNs};
}

// Measures one activity and prints what it costs.
absl::Status Measure(const DistributedSystemDescription& test, int place,
                     const CalibrateFlags& flags) {
  if (config::FindActivity(
          config::ActivityFunctionOf(test.activity_configs(place)))
          ->waits) {
    std::cout << "waits, and takes no CPU time" << std::endl;
    return absl::OkStatus();
  }
  const absl::StatusOr<ActivityCost> cost =
      MeasureInTest(test, place, MeasuringOptions(flags));
  if (!cost.ok()) return cost.status();
  std::cout << CostText(*cost) << std::endl;
  return absl::OkStatus();
}

// Sizes one activity and prints what that took.
absl::Status Size(DistributedSystemDescription& test, int place,
                  absl::Duration target, const CalibrateFlags& flags) {
  const absl::StatusOr<SizedActivity> sized =
      SizeInTest(test, place, absl::ToDoubleNanoseconds(target),
                 flags.tolerance_percent / 100, MeasuringOptions(flags));
  if (!sized.ok()) {
    std::cout << "failed" << std::endl;
    return absl::Status(sized.status().code(),
                        absl::StrCat(test.activity_configs(place).name(), ": ",
                                     sized.status().message()));
  }
  std::cout << SizeText(*sized) << std::endl;
  return absl::OkStatus();
}

absl::Status Calibrate(DistributedSystemDescription& test, int place,
                       const Targets& targets, const CalibrateFlags& flags) {
  const ActivityConfig& config = test.activity_configs(place);
  std::cout << "  " << config.name() << " ("
            << config::ActivityFunctionOf(config) << "): ";
  const auto target = targets.find(config.name());
  return target == targets.end() ? Measure(test, place, flags)
                                 : Size(test, place, target->second, flags);
}

absl::Status WriteConfig(const TestSequence& tests, const std::string& path) {
  return results::WriteFile(path,
                            absl::StrCat("# produced by distbench calibrate\n",
                                         config::ToText(tests)));
}

absl::StatusOr<int> CalibrateTests(const CalibrateFlags& flags) {
  const absl::StatusOr<Targets> targets = ParseTargets(flags.targets);
  if (!targets.ok()) return targets.status();
  if (absl::Status status = CheckGiven(flags, *targets); !status.ok()) {
    return status;
  }
  absl::StatusOr<TestSequence> tests = cli::LoadAndCheckTests(flags.infile);
  if (!tests.ok()) return tests.status();
  absl::Status status = CheckNames(*tests, flags, *targets);
  if (!status.ok()) return status;
  const std::set<std::string> wanted(flags.activities.begin(),
                                     flags.activities.end());
  for (DistributedSystemDescription& test : *tests->mutable_tests()) {
    std::cout << "Test " << config::Quoted(test.name()) << ":" << std::endl;
    for (int i = 0; i < test.activity_configs_size(); ++i) {
      const std::string& name = test.activity_configs(i).name();
      if (!wanted.empty() && wanted.count(name) == 0) continue;
      if (!targets->empty() && targets->count(name) == 0) continue;
      status = Calibrate(test, i, *targets, flags);
      if (!status.ok()) return cli::Fail(status, report::kExitGateNotMet);
    }
  }
  if (flags.outfile.empty()) return report::kExitOk;
  status = WriteConfig(*tests, flags.outfile);
  return status.ok() ? report::kExitOk
                     : cli::Fail(status, report::kExitRunFailed);
}

void AddCalibrateCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "calibrate",
      "Measures the cost of activities and sizes them to targets");
  auto flags = std::make_shared<CalibrateFlags>();
  cli::AddInfileFlag(command, flags->infile);
  cli::AddInfileArgument(command, flags->infile);
  cli::AddRepeatedFlag(command, "--activity", flags->activities, "ACTIVITY",
                       "Measure this activity only; may be repeated");
  cli::AddRepeatedFlag(command, "--target", flags->targets, "NAME=TIME",
                       "CPU time that an iteration should take, such as\n"
                       "rank=5000us; may be repeated");
  cli::AddOutputFlag(command, "--outfile", flags->outfile,
                     "Write the calibrated config here");
  cli::AddNumberFlag(command, "--rounds", flags->rounds, 1, 1000, "N",
                     "Measure this often; the median and range are printed");
  cli::AddDurationFlag(command, "--round", flags->round,
                       "Least CPU time of each round; default: 200ms");
  cli::AddNumberFlag(command, "--tolerance", flags->tolerance_percent, 0.1,
                     50.0, "PERCENT",
                     "Accepted deviation from a target, in percent");
  cli::SetFooter(
      command,
      "Measures the CPU time of one iteration on one thread of this machine.\n"
      "With a target, changes the settings that the activity's cost is\n"
      "proportional to.\n\n"
      "Examples:\n"
      "  distbench calibrate feed.config\n"
      "  distbench calibrate feed.config --target=rank=5000us \\\n"
      "      --outfile=calibrated.config");
  cli::SetBody(command, chosen, [flags] { return CalibrateTests(*flags); });
}

const base::Plugin<base::Product> kProduct(
    "calibrate",
    new base::Product{
        "Measures how long activities take, for tests that give times"});

const base::Plugin<Command> kCommand("calibrate",
                                     new Command{HelpSection::kTests,
                                                 AddCalibrateCommand});

}  // namespace
}  // namespace distbench::calibrate
