// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program: `distbench simulate`, and the flags of
// all commands that simulate.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
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
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/threads.h"
#include "distbench/base/time_units.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/cli/test_simulation.h"
#include "distbench/client/console_run.h"
#include "distbench/products/simulation/calibration/calibrate.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/simulation_display.h"
#include "google/protobuf/text_format.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {
namespace {

const base::Plugin<base::Product> kProduct(
    "simulation", new base::Product{"Runs tests on simulated hosts"});

// ---- On what tests run ------------------------------------------------------

// More would wait for each other more often than they help.
constexpr int kMostDefaultThreads = 8;

constexpr int kMaxThreads = 1024;

// --fabric, --calibrate_from, --keep_fabric, --hosts and --threads.
class SimulationFlags final : public cli::SimulationOptions {
 public:
  std::vector<std::string> AddFlags(CLI::App& command) override;

  // Reads the files, and writes that of --keep_fabric. Errors name the file.
  absl::StatusOr<cli::SimulatedHosts> Read() const override;
  absl::StatusOr<ClusterRunOptions> ReadOptions() const;

 private:
  std::string fabric_;
  std::string calibrate_from_;
  std::string keep_fabric_;
  int hosts_ = 0;    // 0: as many as the test needs
  int threads_ = 0;  // 0: those of this machine, up to a limit
};

std::vector<std::string> SimulationFlags::AddFlags(CLI::App& command) {
  cli::AddTextFlag(
      command, "--fabric", fabric_, "FILE",
      "Hosts, network and costs (proto/simulation.proto as text);\n"
      "default: hosts of 8 CPUs at one switch");
  cli::AddTextFlag(command, "--calibrate_from", calibrate_from_, "RESULT",
                   "What RPCs cost, from a real run of\n"
                   "workloads/calibration.config, or a fabric kept from one;\n"
                   "default: the costs of distbench's reference machine");
  cli::AddOutputFlag(
      command, "--keep_fabric", keep_fabric_,
      "Write the fabric here, with what --calibrate_from found,\n"
      "for --fabric or --calibrate_from of other runs");
  cli::AddNumberFlag(
      command, "--hosts", hosts_, 1, kMaxSimulatedHosts, "N",
      "Simulated hosts; default: as many as the test needs, one\n"
      "for each bundle and each other instance");
  cli::AddNumberFlag(command, "--threads", threads_, 1, kMaxThreads, "N",
                     "Threads that simulate, which do not change the results;\n"
                     "default: the CPUs of this machine, at most 8");
  return {"--fabric", "--calibrate_from", "--keep_fabric", "--hosts",
          "--threads"};
}

absl::StatusOr<cli::SimulatedHosts> SimulationFlags::Read() const {
  absl::StatusOr<ClusterRunOptions> options = ReadOptions();
  if (!options.ok()) return options.status();
  cli::SimulatedHosts hosts;
  hosts.fabric = options->fabric;
  hosts.count = options->host_count;
  hosts.run = [options = *std::move(options)](
                  const DistributedSystemDescription& test,
                  int64_t start_unix_ns,
                  const std::atomic<bool>& is_cancelled) {
    ClusterRunOptions of_run = options;
    of_run.start_unix_ns = start_unix_ns;
    of_run.is_cancelled = &is_cancelled;
    return RunSimulatedTest(test, of_run);
  };
  return hosts;
}

absl::StatusOr<ClusterRunOptions> SimulationFlags::ReadOptions() const {
  ClusterRunOptions options;
  options.host_count = hosts_;
  options.threads = threads_ > 0
                        ? threads_
                        : std::min(base::UsableCpuCount(), kMostDefaultThreads);
  if (!fabric_.empty()) {
    absl::StatusOr<SimulatedFabric> fabric = ReadFabric(fabric_);
    if (!fabric.ok()) return fabric.status();
    options.fabric = *std::move(fabric);
  }
  if (!calibrate_from_.empty()) {
    const absl::StatusOr<SimulatedFabric> calibration =
        ReadCalibration(calibrate_from_);
    if (!calibration.ok()) return calibration.status();
    AddCalibration(*calibration, options.fabric);
  }
  if (keep_fabric_.empty()) return options;
  if (fabric_.empty() && calibrate_from_.empty()) {
    return absl::InvalidArgumentError(
        "--keep_fabric has nothing to keep; give --calibrate_from or --fabric");
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(options.fabric, &text);
  const absl::Status written = cli::WriteReport(keep_fabric_, text);
  if (!written.ok()) return written;
  return options;
}

// For commands of other products that can simulate their tests.
std::unique_ptr<cli::SimulationOptions> MakeOptions() {
  return std::make_unique<SimulationFlags>();
}

const base::Plugin<cli::TestSimulation> kSimulation("simulation",
                                                    new cli::TestSimulation{
                                                        MakeOptions});

// ---- The command ------------------------------------------------------------

struct SimulateFlags {
  std::string infile = "-";
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
  return seconds * base::kNsPerSecond;
}

// Simulates the tests one after the other; they seem to run now if there is no
// start_unix_ns. A stop signal ends the test that runs, whose measurements are
// kept, and leaves out the rest.
client::ConsoleRun SimulateTests(const TestSequence& tests,
                                 ClusterRunOptions options,
                                 std::optional<int64_t> start_unix_ns,
                                 bool quiet, const client::ResultPrinter& print,
                                 base::StopSignals& stop) {
  client::ConsoleRun run;
  std::atomic<bool> is_cancelled = false;
  options.is_cancelled = &is_cancelled;
  stop.SetHandler([&is_cancelled] { is_cancelled = true; });
  SimulationDisplay display(client::StderrProgress(tests.tests_size(), quiet));
  options.on_progress = [&display](const ClusterRunOptions::Progress& now) {
    display.Show(now);
  };
  for (int i = 0; i < tests.tests_size() && !is_cancelled; ++i) {
    display.ShowStart(i, NameOf(tests, i));
    // Lists and trends of results are ordered by it.
    options.start_unix_ns =
        start_unix_ns.value_or(absl::ToUnixNanos(absl::Now()));
    absl::StatusOr<TestResult> result =
        RunSimulatedTest(tests.tests(i), options);
    if (!result.ok()) {
      run.status = OfTest(tests, i, result.status());
      break;
    }
    if (!tests.tests_setting().keep_instance_log()) {
      result->clear_service_logs();
    }
    display.ShowEnd(*result);
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
absl::Status CheckAll(const TestSequence& tests,
                      const ClusterRunOptions& options) {
  for (int i = 0; i < tests.tests_size(); ++i) {
    const absl::Status status = CheckSimulatedTest(tests.tests(i), options);
    if (!status.ok()) return OfTest(tests, i, status);
  }
  return absl::OkStatus();
}

absl::StatusOr<TestSequence> ReadTests(const SimulateFlags& flags) {
  absl::StatusOr<TestSequence> tests = cli::LoadAndCheckTests(flags.infile);
  if (!tests.ok()) return tests;
  tests = cli::WithObjectives(*std::move(tests), flags.output.objectives);
  if (!tests.ok()) return tests;
  cli::RemarkOnTests(*tests);
  cli::LimitDuration(flags.max_test_duration, *tests);
  if (flags.no_samples) cli::LeaveOutSamples(*tests);
  if (flags.seed) {
    for (DistributedSystemDescription& test : *tests->mutable_tests()) {
      test.set_random_seed(*flags.seed);
    }
  }
  return tests;
}

absl::StatusOr<int> Simulate(const SimulateFlags& flags,
                             base::StopSignals& stop) {
  if (flags.output.legacy_text) {
    return absl::InvalidArgumentError(
        "--legacy_text leaves out that a result is simulated, so that it would "
        "pass for a real one; leave the flag out");
  }
  absl::StatusOr<ClusterRunOptions> options = flags.simulation.ReadOptions();
  if (!options.ok()) return options.status();
  const auto start_unix_ns = GivenStartUnixNs();
  if (!start_unix_ns.ok()) return start_unix_ns.status();
  const absl::StatusOr<TestSequence> tests = ReadTests(flags);
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

void AddSimulateCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "simulate", "Runs tests on simulated hosts and networks");
  auto flags = std::make_shared<SimulateFlags>();
  cli::AddInfileFlag(command, flags->infile);
  cli::AddInfileArgument(command, flags->infile);
  flags->simulation.AddFlags(command);
  cli::AddNumberFlag(
      command, "--seed", flags->seed, 0, std::numeric_limits<uint64_t>::max(),
      "N",
      "Of all random choices; default: the test's random_seed,\n"
      "otherwise 1. Equal seeds give equal results, but for the\n"
      "time at which the test seems to run (now, or the variable\n"
      "SOURCE_DATE_EPOCH)");
  cli::AddResultFlags(command, flags->output);
  cli::AddQuietFlag(command, flags->quiet);
  cli::AddMaxTestDurationFlag(
      command, flags->max_test_duration,
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
      "  test_builder parameter_sweep leaf_count 10 x10 10000 \\\n"
      "      multi_level_rpc:root_count=1:qps=100 |\n"
      "      distbench simulate --outfile=sweep.pb.gz\n"
      "  distbench simulate my_test.config --fabric=rack.fabric \\\n"
      "      --calibrate_from=calibration.pb.gz --outfile=simulated.pb.gz \\\n"
      "      --binary_output");
  cli::SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return Simulate(*flags, stop);
  });
}

const base::Plugin<cli::Command> kCommand(
    "simulate", new cli::Command{cli::HelpSection::kTests, AddSimulateCommand});

}  // namespace
}  // namespace distbench::simulation
