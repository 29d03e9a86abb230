#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/error_output.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/report_output.h"
#include "distbench/cli/test_input.h"
#include "distbench/client/test_client.h"
#include "distbench/report/verdict.h"
#include "distbench/search/load_search.h"
#include "distbench/search/measured_probe.h"
#include "distbench/search/objective.h"
#include "distbench/search/rate_knob.h"
#include "distbench/search/search_run.h"
#include "distbench/search/search_table.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

namespace {

struct Flags {
  std::string test_sequencer;
  TlsFiles tls;
  std::string infile = "-";
  std::vector<std::string> objectives;
  std::vector<double> qps;
  SearchOptions search;
  double initial_qps = 0;  // 0: the test's own
  double tolerance_percent = 2;
  SearchTiming timing;
  std::string csv;
};

constexpr double kMinQps = 1e-3;
constexpr double kMaxQps = 1e9;

absl::StatusOr<std::vector<Objective>> ParseObjectives(
    const std::vector<std::string>& texts) {
  std::vector<Objective> objectives;
  for (const std::string& text : texts) {
    absl::StatusOr<Objective> objective = ParseObjective(text);
    if (!objective.ok()) return objective.status();
    objectives.push_back(*std::move(objective));
  }
  return objectives;
}

absl::StatusOr<RateKnob> MakeKnob(const std::string& infile) {
  const absl::StatusOr<TestSequence> tests = LoadAndCheckTests(infile);
  if (!tests.ok()) return tests.status();
  if (tests->tests_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(infile, " has ", tests->tests_size(),
                     " tests; a search needs exactly one"));
  }
  return RateKnob::Make(tests->tests(0));
}

absl::StatusOr<TestResult> RunTest(TestClient& client,
                                   const DistributedSystemDescription& test) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  TestSequenceResults results;
  const absl::Status status = client.RunTests(
      sequence, [](const RunTestsEvent&) {}, results);
  if (!status.ok()) return status;
  return std::move(*results.mutable_test_results(0));
}

// Says before a probe what comes, so that profilers can be attached in time.
void Announce(int number, const ProbeRequest& request, absl::Duration warmup,
              absl::Duration measured) {
  const absl::Time start = absl::Now() + warmup;
  const auto utc = [](absl::Time time) {
    return absl::FormatTime("%H:%M:%S", time, absl::UTCTimeZone());
  };
  std::cerr << absl::StreamFormat(
      "probe %d (%s): %.6g per second, measured for %s, %s to %s UTC\n", number,
      ToString(request.phase), request.load, absl::FormatDuration(measured),
      utc(start), utc(start + measured));
}

// Writes the rows of the table, and what each probe said.
class Observer {
 public:
  Observer(const Objective& objective, ReportOutput& csv)
      : objective_(objective), csv_(csv) {
    csv_.Write(SearchTableHeader() + "\n");
  }

  void Observe(int number, const MeasuredProbe& probe,
               const TestResult& result) {
    std::cerr << "  " << probe.outcome << ": " << probe.measured << '\n';
    const absl::StatusOr<std::string> row =
        SearchTableRow(number, objective_, probe, result);
    if (row.ok()) csv_.Write(*row + "\n");
  }

 private:
  const Objective& objective_;
  ReportOutput& csv_;
};

int ExitCodeOf(SearchVerdict verdict) {
  switch (verdict) {
    case SearchVerdict::kConverged:
    case SearchVerdict::kUpperBoundHit:
      return kExitOk;
    case SearchVerdict::kObjectiveUnreachable:
      return kExitGateNotMet;
    case SearchVerdict::kGeneratorLimited:
    case SearchVerdict::kUnstable:
    case SearchVerdict::kBudgetExhausted:
      return kExitRunFailed;
  }
  return kExitRunFailed;
}

int PrintVerdict(const SearchResult& result) {
  std::cerr << "Verdict: " << ToString(result.verdict) << '\n';
  if (result.load) {
    std::cerr << absl::StreamFormat("Highest load: %.6g per second\n",
                                    *result.load);
  }
  std::cerr << "Evidence: " << result.evidence << std::endl;
  return ExitCodeOf(result.verdict);
}

int RunAll(const Flags& flags, const RateKnob& knob,
           const std::vector<Objective>& objectives,
           const SearchCallbacks& callbacks) {
  if (!flags.qps.empty()) {
    const absl::StatusOr<bool> all_met =
        RunLoadList(flags.qps, flags.timing, knob, objectives, callbacks);
    if (!all_met.ok()) return Fail(all_met.status(), kExitRunFailed);
    return *all_met ? kExitOk : kExitGateNotMet;
  }
  SearchOptions options = flags.search;
  options.tolerance = flags.tolerance_percent / 100;
  options.initial_load =
      flags.initial_qps > 0 ? flags.initial_qps : knob.base_load();
  const absl::StatusOr<SearchResult> result =
      RunLoadSearch(options, flags.timing, knob, objectives, callbacks);
  if (!result.ok()) return Fail(result.status(), kExitRunFailed);
  return PrintVerdict(*result);
}

int Search(const Flags& flags) {
  StopSignals stop(kExitRunFailed);
  const absl::StatusOr<std::vector<Objective>> objectives =
      ParseObjectives(flags.objectives);
  if (!objectives.ok()) return Fail(objectives.status(), kExitUsage);
  const absl::StatusOr<RateKnob> knob = MakeKnob(flags.infile);
  if (!knob.ok()) return Fail(knob.status(), kExitUsage);
  absl::StatusOr<ReportOutput> csv = ReportOutput::Open(flags.csv);
  if (!csv.ok()) return Fail(csv.status(), kExitUsage);
  const absl::StatusOr<std::unique_ptr<TestClient>> client =
      TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return Fail(client.status(), kExitUsage);

  stop.SetHandler([&client] { (*client)->Cancel(); });
  Observer observer(objectives->front(), *csv);
  const int exit_code =
      RunAll(flags, *knob, *objectives,
             {.run =
                  [&](const DistributedSystemDescription& test) {
                    return RunTest(**client, test);
                  },
              .announce = Announce,
              .observe =
                  [&](int number, const MeasuredProbe& probe,
                      const TestResult& result) {
                    observer.Observe(number, probe, result);
                  }});
  stop.SetHandler({});
  const absl::Status written = csv->Finish();
  if (!written.ok()) return Fail(written, kExitRunFailed);
  return exit_code;
}

void AddLoadFlags(CLI::App& command, Flags& flags) {
  const CLI::Validator qps = CLI::Range(kMinQps, kMaxQps).description("");
  command
      .add_option("--slo", flags.objectives,
                  "What must be met, such as 'my_rpc p95<=500ms',\n"
                  "'my_rpc failures<=0.1%' or 'cpu<=60%'; several: all")
      ->required()
      ->type_name("OBJECTIVE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--qps", flags.qps,
                  "Instead of a search: run these loads, each once")
      ->check(qps)
      ->delimiter(',')
      ->type_name("QPS[,QPS...]");
  command
      .add_option("--initial_qps", flags.initial_qps,
                  "Where to start; default: the test's own rate")
      ->check(qps)
      ->type_name("QPS");
  command.add_option("--min_qps", flags.search.min_load, "Lowest load to try")
      ->check(qps)
      ->type_name("QPS")
      ->capture_default_str();
  command.add_option("--max_qps", flags.search.max_load, "Highest load to try")
      ->check(qps)
      ->type_name("QPS");
  command
      .add_option("--tolerance", flags.tolerance_percent,
                  "How exact the answer shall be, in percent")
      ->check(CLI::Range(0.1, 50.0).description(""))
      ->type_name("PERCENT")
      ->capture_default_str();
  command
      .add_option("--max_probes", flags.search.max_probes,
                  "Give up after so many runs")
      ->check(CLI::Range(3, 1000).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void AddTimingFlags(CLI::App& command, SearchTiming& timing) {
  AddDurationFlag(command, "--warmup", timing.warmup,
                  "Warm-up of each run; default: 2s");
  AddDurationFlag(command, "--probe_duration", timing.probe,
                  "Measured time of a run; near the limit more; default: 10s");
  AddDurationFlag(command, "--final_duration", timing.final_run,
                  "Of the run that confirms, and of --qps; default: 60s");
}

}  // namespace

void AddSearchCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand(
      "search", "Finds the highest load within an objective");
  auto flags = std::make_shared<Flags>();
  flags->search.max_load = kMaxQps;
  flags->search.min_load = 1;
  AddTestSequencerFlag(*command, flags->test_sequencer);
  AddTlsFlags(*command, flags->tls);
  AddInfileFlag(*command, flags->infile);
  AddLoadFlags(*command, *flags);
  AddTimingFlags(*command, flags->timing);
  AddTextFlag(*command, "--csv", flags->csv, "FILE",
              "Where the table of probes goes; default: stdout");
  command->footer(
      "Scales all open-loop rates of the test. A load is what the main lists\n"
      "of all instances start per second. Exits 2 if an objective can not be\n"
      "met, 3 if the answer can not be trusted.\n\n"
      "Example:\n"
      "  distbench search --test_sequencer=host1:10000 --infile=my_test.config "
      "\\\n"
      "      --slo='my_rpc p99<=2ms' --csv=probes.csv");
  command->callback(
      [flags, &chosen] { chosen = [flags] { return Search(*flags); }; });
}

}  // namespace distbench
