#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

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
#include "distbench/report/verdict.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

namespace {

struct Flags {
  std::string test_sequencer;
  std::string infile = "-";
  TestOutputFlags output;
  absl::Duration max_test_duration = absl::InfiniteDuration();
  int repeat = 1;
  bool no_samples = false;
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

int RunTests(const Flags& flags) {
  StopSignals stop(kExitRunFailed);
  // Before the tests are on their way there is nothing to end.
  stop.SetHandler([] { std::_Exit(kExitRunFailed); });

  absl::StatusOr<TestSequence> tests = LoadAndCheckTests(flags.infile);
  if (!tests.ok()) return Fail(tests.status(), kExitUsage);
  LimitDuration(flags.max_test_duration, *tests);
  if (flags.no_samples) LeaveOutSamples(*tests);
  const absl::Status writable = CheckOutfile(flags.output);
  if (!writable.ok()) return Fail(writable, kExitUsage);

  const absl::StatusOr<std::unique_ptr<TestClient>> client =
      TestClient::Connect(flags.test_sequencer);
  if (!client.ok()) return Fail(client.status(), kExitUsage);
  ConsoleRun run =
      RunOnConsole(**client, RepeatTests(*tests, flags.repeat), stop);
  if (flags.repeat > 1) NumberRepetitions(tests->tests_size(), run.results);
  return FinishRun(run, flags.output);
}

}  // namespace

void AddRunTestsCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command =
      app.add_subcommand("run_tests", "Runs tests on a test sequencer's nodes");
  auto flags = std::make_shared<Flags>();
  AddTestSequencerFlag(*command, flags->test_sequencer);
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
  command->footer(
      "Prints the summary of each test to stdout. SIGINT or SIGTERM cancels\n"
      "what has not ended.\n\n"
      "Example:\n"
      "  distbench run_tests --test_sequencer=host1:10000 \\\n"
      "      --infile=my_test.config --outfile=my_test.pb.gz --binary_output");
  command->callback(
      [flags, &chosen] { chosen = [flags] { return RunTests(*flags); }; });
}

}  // namespace distbench
