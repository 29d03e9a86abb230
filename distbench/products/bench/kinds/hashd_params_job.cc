// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Finds how much work a storage service does within its objective.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/bench/storage_sizing/storage_probe.h"
#include "distbench/products/bench/storage_sizing/storage_sizing.h"
#include "distbench/products/search/runners.h"

namespace distbench::bench {
namespace {

SizingTiming TimingOf(const PropertyValues& values) {
  SizingTiming timing;
  timing.warmup = values.Duration("warmup").value_or(timing.warmup);
  timing.probe = values.Duration("probe").value_or(timing.probe);
  timing.final_run = values.Duration("final").value_or(timing.final_run);
  return timing;
}

SizingOptions OptionsOf(const PropertyValues& values, int64_t memory_bytes) {
  SizingOptions options;
  options.limit_seconds = absl::ToDoubleSeconds(*values.Duration("limit"));
  options.quantile = *values.Number("percentile") / 100;
  options.tolerance = *values.Number("tolerance") / 100;
  options.max_probes = *values.Count("max_probes");
  if (memory_bytes > options.small_footprint_bytes) {
    options.likely_footprint_bytes = memory_bytes;
  }
  if (const auto most = values.Size("max_footprint")) {
    options.max_footprint_bytes = *most;
    options.likely_footprint_bytes =
        std::min(options.likely_footprint_bytes, *most);
  }
  return options;
}

// A sizing goes on with the options with which it began.
absl::StatusOr<SizingOptions> OptionsOfRun(const JobRun& run) {
  if (!run.job.results().searches().empty()) {
    return SizingOptionsFrom(run.job.parameters());
  }
  return OptionsOf(run.values,
                   RoundedMemory(ReadHostSystem(run.environment.host_root)));
}

// Whether there can be a condition of the RPC's requests.
absl::Status CheckRpc(const std::string& rpc, TestSequence tests) {
  tests.mutable_tests(0)->add_objectives(absl::StrCat(rpc, " p50<=1s"));
  return config::CheckTestSequence(std::move(tests)).status();
}

class HashdParams final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "hashd-params",
        "Finds the work, rate and footprint that a storage service carries",
        {{"infile", PropertyType::kText,
          "A test with one Storage activity; excludes pattern"},
         {"pattern", PropertyType::kText,
          "The test in test_builder's syntax; default: storage_service"},
         {"rpc", PropertyType::kText,
          "The RPC whose requests count; default: the test's only one"},
         {"limit", PropertyType::kDuration, "Longest time of a request",
          "75ms"},
         {"percentile", PropertyType::kNumber,
          "Requests for which that holds, in percent", "95"},
         {"max_footprint", PropertyType::kSize, "The most data to try"},
         {"tolerance", PropertyType::kNumber, "Precision in percent", "5"},
         {"max_probes", PropertyType::kCount, "Most runs of each search", "25"},
         {"warmup", PropertyType::kDuration, "Warm-up of each run", "5s"},
         {"probe", PropertyType::kDuration, "Measured time of each run", "10s"},
         {"final", PropertyType::kDuration,
          "Duration of the runs that confirm an answer", "30s"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    const absl::Status options =
        CheckSizingOptions(OptionsOf(values, /*memory_bytes=*/0));
    if (!options.ok()) return options;
    absl::StatusOr<DistributedSystemDescription> test =
        SubjectOf(values, environment);
    if (!test.ok()) return test.status();
    if (absl::Status status = CheckSizable(*test); !status.ok()) return status;
    TestSequence tests;
    *tests.add_tests() = *std::move(test);
    if (absl::Status rpc = CheckRpc(values.Text("rpc"), tests); !rpc.ok()) {
      return rpc;
    }
    return tests;
  }

  bool StartsAnew() const override { return false; }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<SizingOptions> options = OptionsOfRun(run);
    if (!options.ok()) return options.status();
    absl::StatusOr<TestSequence> tests = AdaptedTests(run.job.tests(), run);
    if (!tests.ok()) return tests.status();
    // Without them, the records say nothing, whatever fails from here on.
    AddSizingOptions(*options, *run.job.mutable_parameters());
    absl::Status ready = TieRecordsTo(*tests, run);
    DistributedSystemDescription& test = *tests->mutable_tests(0);
    if (run.environment.test_sequencer.empty()) ShareNode(test);
    if (ready.ok()) ready = TryAgain(*options, *run.job.mutable_results());
    StorageSizing sizing(*options);
    if (ready.ok()) ready = Replay(run.job.results(), sizing);
    if (!ready.ok()) return ready;
    const absl::StatusOr<std::unique_ptr<JobCluster>> cluster =
        JobCluster::Start(run.environment, *tests);
    if (!cluster.ok()) return cluster.status();
    const absl::Status status =
        Search(run, test, search::RunOnSequencer((*cluster)->client()), sizing);
    DescribeSystems(run.environment, run.job);
    AddStorageRequirements(run.job);
    return status;
  }

  absl::Status Study(BenchJob& job) const override {
    const absl::StatusOr<SizingOptions> options =
        SizingOptionsFrom(job.parameters());
    if (!options.ok()) return options.status();
    StorageSizing sizing(*options);
    if (absl::Status status = Replay(job.results(), sizing); !status.ok()) {
      return status;
    }
    job.clear_outcome();
    AddStorageSizes(sizing.result(), *job.mutable_outcome());
    if (!sizing.result().is_complete()) {
      if (sizing.result().answers.empty()) {
        return absl::AbortedError(
            "the sizes were not found: no search has ended");
      }
      const search::SearchResult& last = sizing.result().answers.back().search;
      return absl::AbortedError(absl::StrCat("the sizes were not found: ",
                                             search::ToString(last.verdict),
                                             ": ", last.evidence));
    }
    job.set_exit_code(0);
    return absl::OkStatus();
  }

  std::string ResultText(const BenchJob& job) const override {
    return absl::StrCat("Result: ", Describe(StorageSizesFrom(job.outcome())),
                        "\n");
  }

 private:
  static absl::Status Search(const JobRun& run,
                             const DistributedSystemDescription& test,
                             const search::TestRunner& runner,
                             StorageSizing& sizing) {
    const search::TestRunner with_progress =
        [&](const DistributedSystemDescription& probe_test,
            const search::ProgressWatcher& watch) {
          return runner(probe_test, [&](const RunTestsEvent& event) {
            run.environment.progress(event);
            return watch(event);
          });
        };
    while (const std::optional<SizingProbe> probe = sizing.Next()) {
      const absl::StatusOr<search::Probe> outcome =
          RunSizingProbe(test, run.values.Text("rpc"), *probe,
                         TimingOf(run.values), with_progress);
      if (!outcome.ok()) return outcome.status();
      sizing.Add(*outcome);
      AddProbeRecord(*probe, *outcome, *run.job.mutable_results());
      run.environment.say(absl::StrFormat("  %s: %s", ToString(probe->phase),
                                          search::Describe(*outcome)));
      if (absl::Status saved = run.save(); !saved.ok()) return saved;
    }
    return absl::OkStatus();
  }
};

}  // namespace

const JobKind& HashdParamsKind() {
  static const HashdParams& kind = *new HashdParams();
  return kind;
}

}  // namespace distbench::bench
