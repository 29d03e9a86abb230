#include "distbench/products/simulation/command.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/time_units.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/products/simulation/command_flags.h"
#include "distbench/products/simulation/variation/variation.h"
#include "distbench/report/findings/findings.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/building/test_factory.h"

namespace distbench::simulation {

namespace {

struct SimulateFlags {
  std::string infile = "-";
  std::string pattern;
  std::vector<std::string> variations;
  cli::TestOutputFlags output;
  SimulationFlags simulation;
  absl::Duration max_test_duration = absl::InfiniteDuration();
  std::optional<uint64_t> seed;
  bool no_samples = false;
  bool quiet = false;
};

std::string NameOf(const TestSequence& tests, int index) {
  const std::string& name = tests.tests(index).name();
  return name.empty() ? absl::StrCat("tests[", index, "]") : name;
}

absl::Status OfTest(const TestSequence& tests, int index,
                    const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(NameOf(tests, index), ": ",
                                                  status.message()));
}

// When the tests seem to run, if the caller wants files that do not depend on
// the time of day: see https://reproducible-builds.org/specs/source-date-epoch.
absl::StatusOr<std::optional<int64_t>> GivenStartUnixNs() {
  const char* const text = getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr) return std::nullopt;
  constexpr int64_t kLatestSeconds = 9'000'000'000;
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(text, &seconds) || seconds < 0 ||
      seconds > kLatestSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("the environment variable SOURCE_DATE_EPOCH is \"", text,
                     "\"; it must be a Unix time from 0 to ", kLatestSeconds,
                     ", in seconds, or not be set"));
  }
  return seconds * 1'000'000'000;
}

// Simulates one test of the sequence. It seems to run now if there is no
// start_unix_ns.
absl::StatusOr<TestResult> SimulateTest(const TestSequence& tests, int index,
                                        ClusterRunOptions options,
                                        std::optional<int64_t> start_unix_ns,
                                        SimulationDisplay& display) {
  display.ShowStart(index, NameOf(tests, index));
  options.on_progress = [&display](const ClusterRunOptions::Progress& now) {
    display.Show({.simulated_ns = now.simulated_ns,
                  .succeeded = now.succeeded,
                  .failed = now.failed,
                  .events = now.events});
  };
  if (!start_unix_ns.has_value()) {
    // Lists and trends of results are ordered by it.
    start_unix_ns = absl::ToUnixNanos(absl::Now());
  }
  options.start_unix_ns = *start_unix_ns;
  absl::StatusOr<TestResult> result =
      RunSimulatedTest(tests.tests(index), options);
  display.Clear();
  if (!result.ok()) return OfTest(tests, index, result.status());
  if (!tests.tests_setting().keep_instance_log()) {
    result->clear_service_logs();
  }
  display.ShowEnd(*result);
  return result;
}

// Simulates the tests one after the other, each on its fabric. A stop signal
// ends the test that runs, whose measurements are kept, and leaves out the
// rest.
client::ConsoleRun SimulateTests(const VariedTests& varied,
                                 ClusterRunOptions options,
                                 std::optional<int64_t> start_unix_ns,
                                 bool quiet, const client::ResultPrinter& print,
                                 base::StopSignals& stop) {
  const TestSequence& tests = varied.sequence;
  client::ConsoleRun run;
  std::atomic<bool> is_cancelled = false;
  options.is_cancelled = &is_cancelled;
  stop.SetHandler([&is_cancelled] { is_cancelled = true; });
  SimulationDisplay display(client::StderrProgress(tests.tests_size(), quiet));
  for (int i = 0; i < tests.tests_size() && !is_cancelled; ++i) {
    options.fabric = varied.fabrics[i];
    absl::StatusOr<TestResult> result =
        SimulateTest(tests, i, options, start_unix_ns, display);
    if (!result.ok()) {
      run.status = result.status();
      break;
    }
    run.traffic_started = true;
    run.printed_results = true;
    print(*result);
    *run.results.add_test_results() = *std::move(result);
  }
  stop.SetHandler({});
  if (is_cancelled) {
    run.status = absl::CancelledError("the tests were cancelled");
  }
  return run;
}

// A sweep of hours shall not end at its last point.
absl::Status CheckAll(const VariedTests& varied, ClusterRunOptions options) {
  const TestSequence& tests = varied.sequence;
  for (int i = 0; i < tests.tests_size(); ++i) {
    options.fabric = varied.fabrics[i];
    const absl::Status status = CheckSimulatedTest(tests.tests(i), options);
    if (!status.ok()) return OfTest(tests, i, status);
  }
  return absl::OkStatus();
}

// Without --pattern and --vary, the tests of the file are all there are.
absl::StatusOr<VariedTests> LoadVaried(const SimulateFlags& flags,
                                       const SimulatedFabric& fabric) {
  if (flags.pattern.empty() && flags.variations.empty()) {
    absl::StatusOr<TestSequence> tests = cli::LoadAndCheckTests(flags.infile);
    if (!tests.ok()) return tests.status();
    const size_t count = tests->tests_size();
    return VariedTests{*std::move(tests),
                       std::vector<SimulatedFabric>(count, fabric)};
  }
  VariationRequest request;
  request.pattern = flags.pattern;
  request.fabric = fabric;
  for (const std::string& text : flags.variations) {
    absl::StatusOr<Variation> variation = ParseVariation(text);
    if (!variation.ok()) return variation.status();
    if (flags.seed && variation->name == "test.random_seed") {
      return absl::InvalidArgumentError(
          "--seed and --vary=test.random_seed exclude each other: either all "
          "tests have one seed, or each has its own");
    }
    request.variations.push_back(*std::move(variation));
  }
  if (flags.pattern.empty()) {
    absl::StatusOr<TestSequence> tests = config::LoadTestSequence(flags.infile);
    if (!tests.ok()) return tests.status();
    request.tests = *std::move(tests);
  }
  test_builder::Notes notes;
  absl::StatusOr<VariedTests> varied = VaryTests(std::move(request), notes);
  for (const std::string& note : notes.all()) std::cerr << note << '\n';
  return varied;
}

absl::StatusOr<VariedTests> ReadTests(const SimulateFlags& flags,
                                      const SimulatedFabric& fabric) {
  absl::StatusOr<VariedTests> varied = LoadVaried(flags, fabric);
  if (!varied.ok()) return varied;
  absl::StatusOr<TestSequence> tests =
      cli::WithObjectives(std::move(varied->sequence), flags.output.objectives);
  if (!tests.ok()) return tests.status();
  cli::RemarkOnTests(*tests);
  cli::LimitDuration(flags.max_test_duration, *tests);
  if (flags.no_samples) cli::LeaveOutSamples(*tests);
  if (flags.seed) {
    for (DistributedSystemDescription& test : *tests->mutable_tests()) {
      test.set_random_seed(*flags.seed);
    }
  }
  varied->sequence = *std::move(tests);
  return varied;
}

absl::StatusOr<int> Simulate(const SimulateFlags& flags,
                             base::StopSignals& stop) {
  if (flags.output.legacy_text) {
    return absl::InvalidArgumentError(
        "--legacy_text leaves out that a result is simulated, so that it would "
        "pass for a real one; leave the flag out");
  }
  absl::StatusOr<ClusterRunOptions> options =
      ReadSimulationFlags(flags.simulation);
  if (!options.ok()) return options.status();
  const auto start_unix_ns = GivenStartUnixNs();
  if (!start_unix_ns.ok()) return start_unix_ns.status();
  const absl::StatusOr<VariedTests> tests = ReadTests(flags, options->fabric);
  if (!tests.ok()) return tests.status();
  const absl::Status possible = CheckAll(*tests, *options);
  if (!possible.ok()) return possible;
  const absl::Status writable = cli::CheckOutput(flags.output);
  if (!writable.ok()) return writable;
  return cli::FinishRun(
      SimulateTests(*tests, *std::move(options), *start_unix_ns, flags.quiet,
                    cli::PrinterOf(flags.output), stop),
      flags.output);
}

}  // namespace

void AddSimulateCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "simulate", "Runs tests on simulated hosts and networks");
  auto flags = std::make_shared<SimulateFlags>();
  cli::AddInfileFlag(command, flags->infile);
  cli::AddInfileArgument(command, flags->infile);
  cli::AddTextFlag(
      command, "--pattern", flags->pattern, "CONFIG",
      "Instead of a file: tests as on test_builder's command line,\n"
      "such as multi_level_rpc:leaf_count=10,100");
  for (const char* file : {"--infile", "FILE"}) {
    cli::Exclude(command, "--pattern", file);
  }
  cli::AddRepeatedFlag(
      command, "--vary", flags->variations, "NAME=VALUE,VALUE",
      "Run each test with each of these values: of a parameter\n"
      "of the pattern, service.NAME (its count), test.FIELD or\n"
      "fabric.FIELD; if repeated, with all combinations");
  AddSimulationFlags(command, flags->simulation);
  cli::AddNumberFlag(
      command, "--seed", flags->seed, 0, std::numeric_limits<uint64_t>::max(),
      "N",
      "Of all random choices; default: the test's random_seed,\n"
      "otherwise 1. Equal seeds give equal results, but for the\n"
      "time at which the test seems to run (now, or the variable\n"
      "SOURCE_DATE_EPOCH)");
  cli::AddResultFlags(command, flags->output);
  cli::AddQuietFlag(command, flags->quiet);
  cli::AddDurationFlag(command, "--max_test_duration", flags->max_test_duration,
                       "End a test after this simulated time, such as 130s;\n"
                       "default: the test's attribute test_timeout");
  cli::AddSwitch(command, "--no_samples", flags->no_samples,
                 "Keep no samples of single RPCs. The result is smaller\n"
                 "and has the same counts, histograms and series");
  cli::SetFooter(
      command,
      "The engines and the placement are those of real tests; hosts, network\n"
      "and the costs of RPCs are assumed. Results say so wherever they are\n"
      "shown, and warn where they are outside of what was validated. All\n"
      "commands that read results read them. SIGINT or SIGTERM ends the test\n"
      "and keeps what was simulated; a second signal exits at once.\n\n"
      "Examples:\n"
      "  distbench simulate my_test.config --hosts=1000\n"
      "  distbench simulate my_test.config --vary=service.leaf=100,1000 \\\n"
      "      --vary=fabric.host.slow_share=0,0.01 \\\n"
      "      --vary=fabric.host.slowness=5 --outfile=sweep.pb.gz\n"
      "  distbench simulate my_test.config --fabric=rack.fabric \\\n"
      "      --calibrate_from=calibration.pb.gz --outfile=simulated.pb.gz \\\n"
      "      --binary_output");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return Simulate(*flags, stop);
  });
}

namespace {

constexpr int64_t kLogIntervalNs = 5 * base::kNsPerSecond;

}  // namespace

SimulationDisplay::SimulationDisplay(client::ProgressDisplayOptions options)
    : line_(std::move(options)) {}

void SimulationDisplay::ShowStart(int test_index, const std::string& name) {
  title_ = absl::StrFormat("[%d/%d] %s: ", test_index + 1,
                           line_.options().test_count, name);
  started_ns_ = shown_ns_ = line_.options().clock->MonotonicNs();
  line_.Show(title_ + "simulating");
}

void SimulationDisplay::Show(const SimulationProgress& progress) {
  const int64_t now_ns = line_.options().clock->MonotonicNs();
  if (!line_.options().terminal && now_ns - shown_ns_ < kLogIntervalNs) return;
  shown_ns_ = now_ns;
  line_.Show(
      client::FitLine({{title_, 1, false},
                       {absl::StrFormat("%.3f s simulated",
                                        base::ToSeconds(progress.simulated_ns)),
                        0},
                       {absl::StrCat(progress.succeeded, " RPCs"), 2},
                       {absl::StrCat(progress.failed, " failed"), 3},
                       {absl::StrCat(progress.events, " events"), 4}},
                      line_.room()));
}

void SimulationDisplay::ShowEnd(const TestResult& result) {
  line_.Write(absl::StrFormat(
      "%s%s after %.1f s, simulated %.3f s", title_,
      result.run_info().has_failure() ? "failed" : "done",
      base::ToSeconds(line_.options().clock->MonotonicNs() - started_ns_),
      result.simulation().simulated_seconds()));
}

}  // namespace distbench::simulation
