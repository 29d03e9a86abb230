#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/client/progress_display.h"
#include "distbench/client/test_client.h"
#include "distbench/products/search/benchpress/final_hook.h"
#include "distbench/products/search/command.h"
#include "distbench/products/search/command_flags.h"
#include "distbench/products/search/cpu_slices.h"
#include "distbench/products/search/isolation_part.h"
#include "distbench/products/search/report/search_table.h"
#include "distbench/products/search/search_display.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/sequencer_runner.h"
#include "distbench/products/search/simulation_runner.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/results/output_file.h"
#include "distbench/results/result_file.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

namespace {

bool UsesBuilder(const SearchFlags& flags) {
  return absl::StartsWith(flags.knob, "builder:");
}

// Returns the test to search with, or an empty one if the knob builds it.
absl::StatusOr<DistributedSystemDescription> LoadTest(
    const SearchFlags& flags) {
  if (UsesBuilder(flags)) {
    if (!flags.infile) return DistributedSystemDescription();
    return absl::InvalidArgumentError(
        "--infile and --knob=builder:... exclude each other: the knob builds "
        "the test");
  }
  const std::string infile = flags.infile.value_or("-");
  absl::StatusOr<TestSequence> tests = cli::LoadAndCheckTests(infile);
  if (!tests.ok()) return tests.status();
  if (tests->tests_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(infile, " has ", tests->tests_size(),
                     " tests; a search needs exactly one"));
  }
  return std::move(*tests->mutable_tests(0));
}

absl::StatusOr<int> InstanceCount(const SearchFlags& flags,
                                  const GetStatusResponse& status) {
  if (flags.instances == "auto") return InstanceCountFor(status);
  int count = 1;
  if (!absl::SimpleAtoi(flags.instances, &count)) {
    return absl::InternalError("--instances was not checked");
  }
  return count;
}

// Automatic instances on one host have slices of it.
bool UsesSlices(const SearchFlags& flags, int instances,
                const GetStatusResponse& status) {
  return flags.cpu_slices ||
         (flags.instances == "auto" && instances > 1 && IsOneHost(status));
}

// Plans a search whose probes are cells of the test's experiment.
absl::StatusOr<SearchPlan> PlanCells(const SearchFlags& flags,
                                     const DistributedSystemDescription& test,
                                     int instances,
                                     client::TestClient& client) {
  if (instances > 1) {
    return absl::InvalidArgumentError(
        "--instances and objectives on isolation exclude each other: the "
        "copies of the system would disturb each other, too");
  }
  const absl::StatusOr<GetStatusResponse> status = client.GetStatus();
  if (!status.ok()) return status.status();
  const absl::StatusOr<const IsolationPart*> part = FindIsolationPart();
  if (!part.ok()) return part.status();
  return (*part)->Plan(
      SpecOf(flags), test,
      {.controls = flags.controls, .antagonist = flags.antagonist}, *status);
}

absl::Status CheckCellFlags(const SearchFlags& flags) {
  if (flags.controls.empty() && flags.antagonist.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--controls and --antagonist need an objective on isolation, such as "
      "--slo='isol_p05>=90%'");
}

absl::StatusOr<SearchPlan> MakePlan(const SearchFlags& flags,
                                    const DistributedSystemDescription& test,
                                    client::TestClient& client) {
  const absl::StatusOr<GetStatusResponse> status = client.GetStatus();
  if (!status.ok()) return status.status();
  const absl::StatusOr<int> instances = InstanceCount(flags, *status);
  if (!instances.ok()) return instances.status();
  absl::StatusOr<SearchPlan> plan = PlanSearch(SpecOf(flags), test, *instances);
  if (!plan.ok()) return plan;
  if (MeasuresIsolation(*plan)) {
    plan = PlanCells(flags, test, *instances, client);
    if (!plan.ok()) return plan;
  } else if (absl::Status status = CheckCellFlags(flags); !status.ok()) {
    return status;
  }
  if (UsesSlices(flags, *instances, *status)) {
    absl::StatusOr<std::vector<std::string>> slices =
        SliceHost(*status, *instances);
    if (!slices.ok()) return slices.status();
    plan->cpu_slices = *std::move(slices);
  }
  plan->loads = flags.loads;
  if (flags.max_time > absl::ZeroDuration()) {
    plan->timing.max_total = flags.max_time;
  }
  return plan;
}

// A simulation has neither nodes whose CPUs could be counted nor control
// groups.
absl::StatusOr<SearchPlan> MakeSimulatedPlan(
    const SearchFlags& flags, const DistributedSystemDescription& test,
    const cli::SimulatedHosts& hosts) {
  int instances = 1;
  if (flags.cpu_slices || !absl::SimpleAtoi(flags.instances, &instances)) {
    return absl::InvalidArgumentError(
        "--simulate excludes --instances=auto and --cpu_slices, which need "
        "real CPUs; give a number of instances, and hosts by --fabric");
  }
  if (!flags.on_final.empty()) {
    return absl::InvalidArgumentError(
        "--simulate excludes --on_final: there is no real run to watch");
  }
  if (absl::Status status = CheckCellFlags(flags); !status.ok()) return status;
  absl::StatusOr<SearchPlan> plan = PlanSearch(SpecOf(flags), test, instances);
  if (!plan.ok()) return plan;
  if (MeasuresIsolation(*plan)) {
    return absl::InvalidArgumentError(
        "--simulate excludes objectives on isolation: antagonists and control "
        "groups are not simulated; search on real nodes");
  }
  plan->is_simulated = true;
  plan->simulated_fabric = hosts.fabric;
  plan->simulated_hosts = hosts.count;
  plan->loads = flags.loads;
  if (flags.max_time > absl::ZeroDuration()) {
    plan->timing.max_total = flags.max_time;
  }
  return plan;
}

// What probes run on.
class ProbeHost {
 public:
  // Reads the files, or connects to the sequencer, that the flags name, and
  // plans the search for them. `earlier`: of the search to resume.
  absl::StatusOr<SearchPlan> Prepare(const SearchFlags& flags,
                                     const DistributedSystemDescription& test,
                                     const TestSequenceResults& earlier) {
    if (flags.simulate) {
      absl::StatusOr<cli::SimulatedHosts> hosts = flags.simulation->Read();
      if (!hosts.ok()) return hosts.status();
      absl::StatusOr<SearchPlan> plan = MakeSimulatedPlan(flags, test, *hosts);
      run_ = RunOnSimulation(
          *std::move(hosts), is_cancelled_,
          earlier.searches().empty() ? 0 : earlier.searches(0).probes_size());
      return plan;
    }
    if (flags.test_sequencer.empty()) {
      return absl::InvalidArgumentError(
          "--test_sequencer is required, or --simulate");
    }
    absl::StatusOr<std::unique_ptr<client::TestClient>> client =
        client::TestClient::Connect(flags.test_sequencer, flags.tls);
    if (!client.ok()) return client.status();
    client_ = *std::move(client);
    run_ = RunOnSequencer(*client_);
    return MakePlan(flags, test, *client_);
  }

  const TestRunner& run() const { return run_; }

  // Any thread.
  void Cancel() {
    is_cancelled_ = true;
    if (client_ != nullptr) client_->Cancel();
  }

 private:
  std::unique_ptr<client::TestClient> client_;  // null: simulated
  std::atomic<bool> is_cancelled_ = false;
  TestRunner run_;
};

// What the results have of a search that ended early.
std::string UnfinishedSearch(const TestSequenceResults& results) {
  if (results.searches_size() != 1 || IsComplete(results.searches(0))) {
    return "";
  }
  return absl::StrCat("a search that ended early, after ",
                      results.searches(0).probes_size(), " probes");
}

int ExitCodeOf(const SearchReport& report) {
  const std::string& verdict = report.verdict();
  if (verdict == ToString(SearchVerdict::kConverged) ||
      verdict == ToString(SearchVerdict::kUpperBoundHit) ||
      verdict == kAllMetVerdict) {
    return report::kExitOk;
  }
  if (verdict == ToString(SearchVerdict::kObjectiveUnreachable) ||
      verdict == kNotAllMetVerdict) {
    return report::kExitGateNotMet;
  }
  return report::kExitRunFailed;
}

// The destinations of the probes, besides stderr.
class Outputs {
 public:
  Outputs(const SearchFlags& flags, cli::ReportOutput csv)
      : path_(flags.resume.empty() ? flags.outfile : flags.resume),
        encoding_(flags.binary_output ? results::ResultEncoding::kBinary
                                      : results::ResultEncoding::kText),
        csv_(std::move(csv)) {
    csv_.Write(SearchTableHeader() + "\n");
  }

  void AddRows(const SearchReport& report, const SearchProbe& probe) {
    csv_.Write(SearchTableRows(report, probe));
  }

  absl::Status Save(const TestSequenceResults& results) const {
    if (path_.empty()) return absl::OkStatus();
    return results::WriteResults(results, path_, encoding_);
  }

  absl::Status Finish() { return csv_.Finish(); }

 private:
  const std::string path_;
  const results::ResultEncoding encoding_;
  cli::ReportOutput csv_;
};

// By the last run: it is the final one, if the search got there.
void WarnOfSimulation(const TestSequenceResults& results) {
  if (results.test_results().empty()) return;
  const TestResult& last = *results.test_results().rbegin();
  for (const Finding& finding : last.run_info().findings()) {
    if (finding.code() != "simulation") continue;
    cli::Fail(absl::StrCat("warning: ", finding.message()), report::kExitOk);
  }
}

int RunPlan(const SearchFlags& flags, const SearchPlan& plan, TestRunner run,
            TestSequenceResults results, Outputs& outputs) {
  SearchDisplay display(client::StderrProgress(1, flags.quiet), flags.simulate);
  FinalHook hook(flags.on_final);
  SearchCallbacks callbacks;
  callbacks.run = std::move(run);
  if (!flags.on_final.empty()) {
    callbacks.run = hook.Wrap(std::move(callbacks.run));
  }
  callbacks.announce = [&](const PlannedProbe& probe) {
    hook.Announce(probe);
    display.Announce(probe);
  };
  callbacks.progress = [&](const RunTestsEvent& event) { display.Show(event); };
  callbacks.observe = [&](const SearchReport& report,
                          const SearchProbe& probe) {
    display.Observe(report, probe);
    outputs.AddRows(report, probe);
  };
  callbacks.save = [&](const TestSequenceResults& known) {
    return outputs.Save(known);
  };

  display.ShowPlan(plan);
  for (const SearchReport& report : results.searches()) {
    for (const SearchProbe& probe : report.probes()) {
      outputs.AddRows(report, probe);
    }
  }
  const absl::Status status = RunLoadSearch(plan, callbacks, results);
  display.Clear();
  if (!status.ok()) return cli::Fail(status, report::kExitRunFailed);
  for (const TestResult& result : results.test_results()) {
    for (const Finding& finding : result.run_info().findings()) {
      if (finding.code() != kFinalCommandFinding ||
          finding.severity() != Finding::WARN) {
        continue;
      }
      cli::Fail(absl::StrCat("warning: --on_final: ", finding.message()),
                report::kExitOk);
    }
  }
  // The verdict is the result, whatever is shown on the way to it.
  SearchDisplay(client::StderrProgress(1)).ShowVerdict(results.searches(0));
  WarnOfSimulation(results);
  return ExitCodeOf(results.searches(0));
}

absl::StatusOr<int> Search(const SearchFlags& flags, base::StopSignals& stop) {
  const absl::StatusOr<DistributedSystemDescription> test = LoadTest(flags);
  if (!test.ok()) return test.status();
  absl::StatusOr<TestSequenceResults> results = cli::EarlierResults(
      flags.resume, flags.outfile, "a resumed search", UnfinishedSearch);
  if (!results.ok()) return results.status();
  if (!flags.outfile.empty()) {
    // Fail before a long search, not after its first probe.
    const absl::Status writable =
        results::OutputFile::Open(flags.outfile).status();
    if (!writable.ok()) return writable;
  }
  absl::StatusOr<cli::ReportOutput> csv = cli::ReportOutput::Open(flags.csv);
  if (!csv.ok()) return csv.status();
  ProbeHost host;
  const absl::StatusOr<SearchPlan> plan = host.Prepare(flags, *test, *results);
  if (!plan.ok()) return plan.status();
  if (!flags.resume.empty()) {
    const absl::Status resumable = CheckResumable(*plan, *results);
    if (!resumable.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot resume ", flags.resume, ": ",
                       std::string(resumable.message())));
    }
  }

  Outputs outputs(flags, *std::move(csv));
  stop.SetHandler([&host] { host.Cancel(); });
  const int exit_code =
      RunPlan(flags, *plan, host.run(), *std::move(results), outputs);
  stop.SetHandler({});
  const absl::Status written = outputs.Finish();
  if (!written.ok()) return cli::Fail(written, report::kExitRunFailed);
  return exit_code;
}

}  // namespace

void AddSearchCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "search",
      "Finds the load, or the weakest control, that meets an "
      "objective");
  auto flags = std::make_shared<SearchFlags>();
  AddSearchFlags(command, *flags);
  cli::SetFooter(
      command,
      "A load is the number of iterations per second that the main lists of\n"
      "all instances start, unless --knob says otherwise. Exits 2 if an\n"
      "objective cannot be met, 3 if the answer cannot be trusted.\n\n"
      "Examples:\n"
      "  distbench search my_test.config --test_sequencer=host1:10000 \\\n"
      "      --slo='my_rpc p99<=2ms' --outfile=search.pb.gz --csv=probes.csv\n"
      "  distbench search --test_sequencer=host1:10000 --slo='query p99<=2ms' "
      "\\\n"
      "      --knob=builder:multi_level_rpc:qps=500:leaf_count --max_load=20\n"
      "  distbench search --simulate --slo='root_query p99<=2ms' \\\n"
      "      --knob=builder:multi_level_rpc:qps=500:leaf_count --max_load=500");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return Search(*flags, stop);
  });
}

}  // namespace distbench::search
