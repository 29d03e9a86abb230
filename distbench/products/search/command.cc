// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
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
#include "absl/strings/string_view.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/progress_display.h"
#include "distbench/client/test_client.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/search/benchpress/final_hook.h"
#include "distbench/products/search/isolation_part.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/products/search/resumption.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/search_display.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/strategy/load_search.h"
#include "distbench/products/search/system_copies.h"
#include "distbench/report/findings/findings.h"
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

// Whether nothing says what to search but the file of the search to resume.
bool IsOfFile(const SearchFlags& flags) {
  return !flags.resume.empty() && !flags.infile;
}

absl::Status CannotResume(const SearchFlags& flags, const absl::Status& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("cannot resume ", flags.resume, ": ", why.message()));
}

// The test of a search in a file, and what else was asked, as far as the flags
// do not say it.
absl::StatusOr<DistributedSystemDescription> TestOfFile(
    const TestSequenceResults& results, SearchFlags& flags) {
  if (absl::Status kept = CheckKept(results); !kept.ok()) {
    return CannotResume(flags, kept);
  }
  const SearchReport& report = results.searches(0);
  DistributedSystemDescription test = report.test();
  for (const ServiceSpec& service : test.services()) {
    if (!config::IsOutside(service)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        flags.resume, ": the test calls the server \"", service.name(),
        "\" outside of it, and results keep no secrets; give the test with "
        "--infile, too"));
  }
  *test.mutable_search() = report.search();
  if (flags.loads.empty()) {
    flags.loads.assign(report.loads().begin(), report.loads().end());
  }
  if (flags.instances.empty()) {
    flags.instances = absl::StrCat(std::max(1, report.instances()));
  }
  flags.cpu_slices |= !report.cpu_slices().empty();
  if (flags.controls.empty()) flags.controls = report.controls();
  if (flags.antagonist.empty()) flags.antagonist = report.antagonist();
  return test;
}

// Returns the test to search with, or an empty one if the knob builds it.
absl::StatusOr<DistributedSystemDescription> LoadTest(
    const TestSequenceResults& earlier, SearchFlags& flags) {
  if (IsOfFile(flags)) return TestOfFile(earlier, flags);
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
  if (!flags.instances.empty() && !absl::SimpleAtoi(flags.instances, &count)) {
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
  const absl::Status limited = RunLoads(flags.loads, *plan);
  if (!limited.ok()) return limited;
  return plan;
}

// A simulation has neither nodes whose CPUs could be counted nor control
// groups.
absl::StatusOr<SearchPlan> MakeSimulatedPlan(
    const SearchFlags& flags, const DistributedSystemDescription& test,
    const cli::SimulatedHosts& hosts) {
  int instances = 1;
  if (flags.cpu_slices || (!flags.instances.empty() &&
                           !absl::SimpleAtoi(flags.instances, &instances))) {
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
  const absl::Status limited = RunLoads(flags.loads, *plan);
  if (!limited.ok()) return limited;
  return plan;
}

// Of all attempts.
int ProbeCount(const TestSequenceResults& results) {
  int count = 0;
  for (const SearchReport& report : results.searches()) {
    count += report.probes_size();
    for (const SearchReport& attempt : report.earlier_attempts()) {
      count += attempt.probes_size();
    }
  }
  return count;
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
      run_ = RunOnSimulation(*std::move(hosts), is_cancelled_,
                             ProbeCount(earlier));
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

  // Checks that a search goes on where it was.
  absl::Status CheckSamePlace(const TestSequenceResults& earlier) {
    if (client_ == nullptr) return absl::OkStatus();
    const absl::StatusOr<GetStatusResponse> status = client_->GetStatus();
    return status.ok() ? CheckHosts(earlier, *status) : status.status();
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

// What the results have of a search without an answer, which can go on.
std::string UnansweredSearch(const TestSequenceResults& results) {
  if (results.searches_size() != 1) return "";
  const SearchReport& report = results.searches(0);
  if (HasAnswer(report)) return "";
  return absl::StrCat("a search that ended early or without an answer, after ",
                      report.probes_size(), " probes");
}

// The destinations of the probes, besides stderr.
class Outputs {
 public:
  Outputs(const SearchFlags& flags, results::ResultEncoding encoding,
          std::unique_ptr<results::OutputFile> csv)
      : path_(flags.resume.empty() ? flags.outfile : flags.resume),
        encoding_(encoding),
        csv_(std::move(csv)) {
    csv_->Write(SearchTableHeader() + "\n");
  }

  void AddRows(const SearchReport& report, const SearchProbe& probe) {
    csv_->Write(SearchTableRows(report, probe));
  }

  absl::Status Save(const TestSequenceResults& results) const {
    if (path_.empty()) return absl::OkStatus();
    return results::WriteResults(results, path_, encoding_);
  }

  absl::Status Finish() { return csv_->Commit(); }

 private:
  const std::string path_;
  const results::ResultEncoding encoding_;
  const std::unique_ptr<results::OutputFile> csv_;
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
  callbacks.observe = [&](const SearchReport& report, const SearchProbe& probe,
                          const Bracket& bracket) {
    display.Observe(report, probe, bracket);
    outputs.AddRows(report, probe);
  };
  callbacks.save = [&](const TestSequenceResults& known) {
    return outputs.Save(known);
  };

  display.ShowPlan(plan);
  display.ShowAttempt(results);
  for (const SearchReport& report : results.searches()) {
    for (const SearchProbe& probe : report.probes()) {
      outputs.AddRows(report, probe);
    }
  }
  const int kept_probes = ProbeCount(results);
  const absl::Status status = RunLoadSearch(plan, callbacks, results);
  display.Clear();
  if (!status.ok()) {
    const bool has_begun = ProbeCount(results) > kept_probes;
    return cli::Fail(status, cli::ExitCodeOfFailure(status, has_begun));
  }
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

absl::StatusOr<int> Search(SearchFlags& flags, base::StopSignals& stop) {
  const auto lock = cli::LockKept(flags.resume, flags.outfile);
  if (!lock.ok()) return lock.status();
  absl::StatusOr<TestSequenceResults> results = cli::EarlierResults(
      flags.resume, flags.outfile, "a resumed search", UnansweredSearch);
  if (!results.ok()) return results.status();
  const absl::StatusOr<results::ResultEncoding> encoding =
      cli::EncodingToKeep(flags.resume, flags.binary_output);
  if (!encoding.ok()) return encoding.status();
  const absl::StatusOr<DistributedSystemDescription> test =
      LoadTest(*results, flags);
  if (!test.ok()) return test.status();
  if (!flags.outfile.empty()) {
    // Fail before a long search, not after its first probe.
    const absl::Status writable =
        results::OutputFile::Open(flags.outfile).status();
    if (!writable.ok()) return writable;
  }
  absl::StatusOr<std::unique_ptr<results::OutputFile>> csv =
      cli::OpenReport(flags.csv);
  if (!csv.ok()) return csv.status();
  ProbeHost host;
  const absl::StatusOr<SearchPlan> plan = host.Prepare(flags, *test, *results);
  if (!plan.ok()) return plan.status();
  if (!flags.resume.empty()) {
    absl::Status resumable = CheckResumable(*plan, *results);
    if (resumable.ok()) resumable = host.CheckSamePlace(*results);
    if (!resumable.ok()) return CannotResume(flags, resumable);
  }

  Outputs outputs(flags, *encoding, *std::move(csv));
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

namespace {

constexpr int kMaxInstances = 1000;
constexpr double kMinLoad = 1e-6;

// Returns an empty string if the text is a number of instances, else the error.
std::string CheckInstances(const std::string& text) {
  int count = 0;
  if (text == "auto" || (absl::SimpleAtoi(text, &count) && count >= 1 &&
                         count <= kMaxInstances)) {
    return "";
  }
  return absl::StrCat("\"", text, "\" is neither auto nor a number from 1 to ",
                      kMaxInstances);
}

void AddLoadFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddRepeatedFlag(command, "--slo", flags.objectives, "OBJECTIVE",
                       "Objective to meet, such as 'my_rpc p95<=500ms',\n"
                       "'my_rpc failures<=0.1%', 'cpu<=60%' or, beside an\n"
                       "antagonist, 'isol_p05>=90%'; if repeated, all must be\n"
                       "met. Default: those of the config's search");
  cli::AddTextFlag(command, "--knob", flags.knob, "KNOB",
                   "Setting to vary: rate (a factor on all open loops),\n"
                   "concurrency, concurrency:ACTION, payload:NAME,\n"
                   "fanout:RPC, control:SET:SETTING or\n"
                   "builder:CONFIG:PARAMETER; default: rate");
  command
      .add_option("--qps,--loads", flags.loads,
                  "Do not search, but run each of these loads once, for the\n"
                  "duration of a final run")
      ->check([](const std::string& text) {
        return cli::NumberError(text, kMinLoad, kMaxSearchLoad);
      })
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("LOAD[,LOAD...]");
  cli::AddNumberFlag(command, "--initial_qps,--initial_load",
                     flags.initial_load, kMinLoad, kMaxSearchLoad, "LOAD",
                     "First load to try; default: the test's own load");
  cli::AddNumberFlag(command, "--min_qps,--min_load", flags.min_load, kMinLoad,
                     kMaxSearchLoad, "LOAD", "Lowest load to try; default: 1");
  cli::AddNumberFlag(command, "--max_qps,--max_load", flags.max_load, kMinLoad,
                     kMaxSearchLoad, "LOAD",
                     "Highest load to try; default: the knob's maximum");
  command
      .add_option("--instances", flags.instances,
                  "Copies of the system that run side by side; auto: one\n"
                  "for each 100 CPUs of the nodes' hosts, rounded up;\n"
                  "default: 1")
      ->check(CheckInstances)
      ->type_name("N|auto");
  command.add_flag("--cpu_slices", flags.cpu_slices,
                   "Each copy has cores of its own, all nodes being on one\n"
                   "host; implied by --instances=auto on one host");
}

void AddCellFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddTextFlag(
      command, "--controls", flags.controls, "CONTROLS",
      "With an objective on isolation: the set of controls of the\n"
      "test's experiment that holds; default: the only one");
  cli::AddTextFlag(
      command, "--antagonist", flags.antagonist, "ANTAGONIST",
      "With an objective on isolation: the antagonist; default: the\n"
      "only one");
}

void AddOutputFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddOutputFlag(command, "--csv", flags.csv,
                     "Write the table of probes here; default: stdout");
  cli::AddOutputFlag(
      command, "--outfile", flags.outfile,
      "Write the search and its final runs here after each probe;\n"
      "compressed if the name ends in .gz");
  command.add_flag("--binary_output", flags.binary_output,
                   "Write the outfile in binary instead of text");
  cli::AddTextFlag(command, "--resume", flags.resume, "FILE",
                   "Resume the search in this outfile, and write to it; it\n"
                   "has the test and the other flags, unless --infile is\n"
                   "given. --max_probes and --max_time may be more");
  cli::AddTextFlag(
      command, "--on_final", flags.on_final, "COMMAND",
      "Shell command, such as a profiler, to run when the final run\n"
      "begins; DISTBENCH_FINAL_START and _END hold its times");
  cli::AddQuietFlag(command, flags.quiet);
}

// Where probes run.
void AddPlaceFlags(CLI::App& command, SearchFlags& flags) {
  cli::AddTestSequencerFlag(command, flags.test_sequencer);
  command.get_option("--test_sequencer")->required(false);
  cli::AddTlsFlags(command, flags.tls);
  const cli::TestSimulation* const simulation = cli::FindTestSimulation();
  if (simulation == nullptr) return;
  CLI::Option* const simulate = command.add_flag(
      "--simulate", flags.simulate,
      "Search on simulated hosts instead of a sequencer's nodes");
  flags.simulation = simulation->make_options();
  for (const std::string& name : flags.simulation->AddFlags(command)) {
    command.get_option(name)->needs(simulate);
  }
}

}  // namespace

void AddEffortFlags(CLI::App& command, absl::string_view suffix,
                    SearchFlags& flags) {
  cli::AddNumberFlag(command, "--tolerance", flags.tolerance_percent,
                     100 * kMinSearchTolerance, 100 * kMaxSearchTolerance,
                     "PERCENT",
                     "Precision of the answer, in percent; default: 2");
  cli::AddNumberFlag(command, "--max_probes", flags.max_probes,
                     kMinSearchProbes, kMaxSearchProbes, "N",
                     "Give up after this many runs; default: 25");
  cli::AddDurationFlag(command, "--warmup", flags.warmup,
                       "Warm-up of each run; default: 2s");
  cli::AddDurationFlag(
      command, absl::StrCat("--probe", suffix), flags.probe,
      "Measured time of a run; near the limit more; default: 10s");
  cli::AddDurationFlag(
      command, absl::StrCat("--final", suffix), flags.final_run,
      "Duration of the run that confirms an answer; default: 60s");
}

void AddSearchFlags(CLI::App& command, SearchFlags& flags) {
  AddPlaceFlags(command, flags);
  command
      .add_option("--infile", flags.infile,
                  "The test, as text or binary; - reads standard input;\n"
                  "default: -, or the test of --resume. Not with\n"
                  "--knob=builder:...")
      ->type_name("FILE")
      ->check([](const std::string& value) {
        return absl::StartsWith(value, "--") ? "its FILE is missing" : "";
      });
  command.add_option("FILE", flags.infile, "The same as --infile=FILE")
      ->excludes(command.get_option("--infile"))
      ->option_text(" ");
  AddLoadFlags(command, flags);
  AddCellFlags(command, flags);
  AddEffortFlags(command, "_duration", flags);
  cli::AddDurationFlag(
      command, "--max_time", flags.max_time,
      "Give up rather than exceed this total time of traffic;\n"
      "default: no limit");
  AddOutputFlags(command, flags);
}

LoadSearchSpec SpecOf(const SearchFlags& flags) {
  LoadSearchSpec spec;
  for (const std::string& text : flags.objectives) spec.add_objectives(text);
  if (!flags.knob.empty()) spec.set_knob(flags.knob);
  if (flags.initial_load) spec.set_initial_load(*flags.initial_load);
  if (flags.min_load) spec.set_min_load(*flags.min_load);
  if (flags.max_load) spec.set_max_load(*flags.max_load);
  if (flags.tolerance_percent) {
    spec.set_tolerance(*flags.tolerance_percent / 100);
  }
  if (flags.max_probes) spec.set_max_probes(*flags.max_probes);
  const auto microseconds = [](absl::Duration duration) {
    return absl::ToInt64Microseconds(duration);
  };
  if (flags.warmup > absl::ZeroDuration()) {
    spec.set_warmup_us(microseconds(flags.warmup));
  }
  if (flags.probe > absl::ZeroDuration()) {
    spec.set_probe_duration_us(microseconds(flags.probe));
  }
  if (flags.final_run > absl::ZeroDuration()) {
    spec.set_final_duration_us(microseconds(flags.final_run));
  }
  if (flags.max_time > absl::ZeroDuration()) {
    spec.set_max_time_us(microseconds(flags.max_time));
  }
  return spec;
}

}  // namespace distbench::search
