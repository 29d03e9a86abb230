#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/error_output.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/test_input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/client/repetition.h"
#include "distbench/client/test_client.h"
#include "distbench/config/validate/check.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

namespace {

struct Flags {
  std::string test_sequencer;
  TlsFiles tls;
  std::string infile = "-";
  TestOutputFlags output;
  absl::Duration max_test_duration = absl::InfiniteDuration();
  int repeat = 1;
  bool no_samples = false;
  bool preempt = false;
  bool detach = false;
  std::string label;
};

constexpr int kMaxRepeat = 10'000;

// Overrides what the tests say themselves.
void LimitDuration(absl::Duration limit, TestSequence& tests) {
  if (limit == absl::InfiniteDuration()) return;
  const int64_t seconds =
      absl::ToInt64Seconds(absl::Ceil(limit, absl::Seconds(1)));
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    (*test.mutable_attributes())["test_timeout"] = absl::StrCat(seconds);
  }
}

void LeaveOutSamples(TestSequence& tests) {
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    test.set_sample_memory_bytes(0);
  }
}

// The tests with the objectives of the flags. They go with the tests, so that
// the result says what it was judged by.
absl::StatusOr<TestSequence> WithObjectives(
    TestSequence tests, const std::vector<std::string>& objectives) {
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    for (const std::string& objective : objectives) {
      test.add_objectives(objective);
    }
  }
  return CheckTestSequence(std::move(tests));
}

// What would be thrown away is not asked for.
absl::Status CheckDetached(const Flags& flags) {
  if (!flags.detach) return absl::OkStatus();
  const char* flag = !flags.output.outfile.empty() ? "--outfile"
                     : flags.output.binary_output  ? "--binary_output"
                     : flags.output.allow_invalid  ? "--allow_invalid"
                     : !flags.output.checks.junit.empty() ? "--junit"
                     : !flags.output.checks.markdown.empty() ? "--markdown"
                                                   : nullptr;
  if (flag == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag,
                   " does not go with --detach, which waits for no result; "
                   "give it to distbench runs get"));
}

int Detach(TestClient& client, const RunTestsRequest& request) {
  const absl::StatusOr<std::string> run_id = client.Submit(request);
  if (!run_id.ok()) return Fail(run_id.status(), kExitUsage);
  std::cout << *run_id << std::endl;
  return kExitOk;
}

// Nothing is lost with the connection.
void SayHowToGoOn(const ConsoleRun& run, const Flags& flags) {
  if (!absl::IsUnavailable(run.status) || run.run_id.empty()) return;
  std::cerr << "The run goes on if only the connection was lost. Its result is "
               "kept by a sequencer\nthat still runs, and by one with "
               "--results_dir that is started again:\n"
            << "  distbench runs wait " << run.run_id
            << " --test_sequencer=" << flags.test_sequencer << std::endl;
}

int RunTests(const Flags& flags) {
  StopSignals stop(kExitRunFailed);
  // Before the tests are on their way there is nothing to end.
  stop.SetHandler([] { std::_Exit(kExitRunFailed); });

  const absl::Status detached = CheckDetached(flags);
  if (!detached.ok()) return Fail(detached, kExitUsage);
  absl::StatusOr<TestSequence> tests = LoadAndCheckTests(flags.infile);
  if (!tests.ok()) return Fail(tests.status(), kExitUsage);
  tests = WithObjectives(*std::move(tests), flags.output.objectives);
  if (!tests.ok()) return Fail(tests.status(), kExitUsage);
  LimitDuration(flags.max_test_duration, *tests);
  if (flags.no_samples) LeaveOutSamples(*tests);
  const absl::Status writable = CheckOutput(flags.output);
  if (!writable.ok()) return Fail(writable, kExitUsage);

  const absl::StatusOr<std::unique_ptr<TestClient>> client =
      TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return Fail(client.status(), kExitUsage);
  RunTestsRequest request;
  *request.mutable_test_sequence() = RepeatTests(*tests, flags.repeat);
  request.set_preempt(flags.preempt);
  request.set_label(flags.label);
  if (flags.detach) return Detach(**client, request);

  ConsoleRun run = RunOnConsole(**client, request, /*show_run_id=*/true, stop);
  if (flags.repeat > 1) NumberRepetitions(tests->tests_size(), run.results);
  const int exit_code = FinishRun(run, flags.output);
  SayHowToGoOn(run, flags);
  return exit_code;
}

}  // namespace

void AddRunTestsCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command =
      app.add_subcommand("run_tests", "Runs tests on a test sequencer's nodes");
  auto flags = std::make_shared<Flags>();
  AddTestSequencerFlag(*command, flags->test_sequencer);
  AddTlsFlags(*command, flags->tls);
  AddInfileFlag(*command, flags->infile);
  AddTestOutputFlags(*command, flags->output);
  AddDurationFlag(*command, "--max_test_duration", flags->max_test_duration,
                  "When to end a test that has not ended, such as\n"
                  "130s; default: as its attribute test_timeout says");
  command
      ->add_option("--repeat", flags->repeat,
                   "How often to run the tests; all of them once before any\n"
                   "again. Verdicts of compare need repetitions")
      ->check(CLI::Range(1, kMaxRepeat).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--no_samples", flags->no_samples,
                    "Keep no samples of single RPCs: a small result,\n"
                    "with the same counts, histograms and series");
  AddTextFlag(*command, "--label", flags->label, "TEXT",
              "Kept with the run, for distbench runs list");
  command->add_flag("--preempt", flags->preempt,
                    "Run before all runs that wait without this flag; what\n"
                    "runs already is not disturbed");
  command->add_flag("--detach", flags->detach,
                    "Print the run's id and exit; distbench runs does the\n"
                    "rest: wait, get, cancel");
  command->footer(
      "Prints the summary of each test to stdout. SIGINT or SIGTERM cancels\n"
      "what has not ended, and what was measured is kept; a second one exits\n"
      "at once. If the connection is lost, the run goes on, and its result is\n"
      "kept: see distbench help runs.\n\n"
      "Examples:\n"
      "  distbench run_tests --test_sequencer=host1:10000 \\\n"
      "      --infile=my_test.config --outfile=my_test.pb.gz --binary_output\n"
      "  distbench run_tests --test_sequencer=host1:10000 \\\n"
      "      --infile=my_test.config --label=nightly --detach");
  command->callback(
      [flags, &chosen] { chosen = [flags] { return RunTests(*flags); }; });
}

}  // namespace distbench
