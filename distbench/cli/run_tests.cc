// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
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
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/client/test_client.h"
#include "distbench/config/reading/load.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

namespace {

struct RunTestsFlags {
  std::string test_sequencer;
  security::TlsFiles tls;
  std::string infile = "-";
  TestOutputFlags output;
  absl::Duration max_test_duration = absl::InfiniteDuration();
  int repeat = 1;
  bool no_samples = false;
  bool preempt = false;
  bool detach = false;
  std::string label;
  bool quiet = false;
};

constexpr int kMaxRepeat = 10'000;

// What would be thrown away is not asked for.
absl::Status CheckDetached(const RunTestsFlags& flags) {
  if (!flags.detach) return absl::OkStatus();
  const char* flag = !flags.output.outfile.empty()           ? "--outfile"
                     : flags.output.binary_output            ? "--binary_output"
                     : flags.output.legacy_text              ? "--legacy_text"
                     : flags.output.allow_invalid            ? "--allow_invalid"
                     : flags.output.verbose                  ? "--verbose"
                     : flags.quiet                           ? "--quiet"
                     : !flags.output.checks.junit.empty()    ? "--junit"
                     : !flags.output.checks.markdown.empty() ? "--markdown"
                                                             : nullptr;
  if (flag == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag,
                   " does not go with --detach, which waits for no result; "
                   "use it with distbench runs get"));
}

absl::StatusOr<int> Detach(client::TestClient& client,
                           const RunTestsRequest& request) {
  const absl::StatusOr<std::string> run_id = client.Submit(request);
  if (!run_id.ok()) return run_id.status();
  std::cout << *run_id << std::endl;
  return report::kExitOk;
}

// After a lost connection, tells the user how to get the result.
void SayHowToGoOn(const client::ConsoleRun& run, const RunTestsFlags& flags) {
  if (!absl::IsUnavailable(run.status) || run.run_id.empty()) return;
  std::cerr << "If only the connection was lost, the run goes on. The "
               "sequencer keeps its result\nwhile it runs, and across "
               "restarts if it has --results_dir. To get it:\n"
            << "  distbench runs wait " << run.run_id
            << " --test_sequencer=" << flags.test_sequencer << std::endl;
}

absl::StatusOr<int> RunTests(const RunTestsFlags& flags,
                             base::StopSignals& stop) {
  const absl::Status detached = CheckDetached(flags);
  if (!detached.ok()) return detached;
  config::ConfigText text;
  absl::StatusOr<TestSequence> tests = LoadAndCheckTests(flags.infile, &text);
  if (!tests.ok()) return tests.status();
  tests = WithObjectives(*std::move(tests), flags.output.objectives);
  if (!tests.ok()) return tests.status();
  RemarkOnTests(*tests);
  LimitDuration(flags.max_test_duration, *tests);
  if (flags.no_samples) LeaveOutSamples(*tests);
  const absl::Status writable = CheckOutput(flags.output);
  if (!writable.ok()) return writable;

  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return client.status();
  RunTestsRequest request;
  *request.mutable_test_sequence() = client::RepeatTests(*tests, flags.repeat);
  request.set_preempt(flags.preempt);
  request.set_label(flags.label);
  if (flags.detach) return Detach(**client, request);

  const client::RunProgress progress = flags.quiet
                                           ? client::RunProgress::kNone
                                           : client::RunProgress::kWithRunId;
  client::ConsoleRun run = client::RunOnConsole(**client, request, progress,
                                                PrinterOf(flags.output), stop);
  if (flags.repeat > 1) {
    client::NumberRepetitions(tests->tests_size(), run.results);
  } else {
    // Repeated tests have other positions than in the file.
    run.status = config::WithPlaces(run.status, text);
  }
  const int exit_code = FinishRun(run, flags.output);
  SayHowToGoOn(run, flags);
  return exit_code;
}

}  // namespace

void AddRunTestsCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, "run_tests", "Runs tests on a test sequencer's nodes");
  auto flags = std::make_shared<RunTestsFlags>();
  AddTestSequencerFlag(command, flags->test_sequencer);
  AddTlsFlags(command, flags->tls);
  AddInfileFlag(command, flags->infile);
  AddInfileArgument(command, flags->infile);
  AddResultFlags(command, flags->output);
  AddQuietFlag(command, flags->quiet);
  AddMaxTestDurationFlag(command, flags->max_test_duration,
                         "End a test after this time, such as 130s; default:\n"
                         "the test's attribute test_timeout");
  AddNumberFlag(command, "--repeat", flags->repeat, 1, kMaxRepeat, "N",
                "Run all tests this often, one round after the other.\n"
                "Verdicts of compare need repetitions");
  AddSwitch(command, "--no_samples", flags->no_samples,
            "Keep no samples of single RPCs. The result is smaller\n"
            "and has the same counts, histograms and series");
  AddTextFlag(command, "--label", flags->label, "TEXT",
              "Text kept with the run, shown by distbench runs list");
  AddSwitch(command, "--preempt", flags->preempt,
            "Run before all waiting runs without this flag; a run\n"
            "that has started is not disturbed");
  AddSwitch(command, "--detach", flags->detach,
            "Print the run's id and exit; then use distbench runs\n"
            "to wait for, get or cancel the run");
  SetFooter(
      command,
      "Prints each test's result to stdout: to a terminal, what matters most;\n"
      "elsewhere, the summary that programs parse. SIGINT or SIGTERM cancels\n"
      "the rest and keeps what was measured; a second signal exits at once.\n"
      "If the connection is lost, the run goes on and its result is kept: see\n"
      "distbench help runs.\n\n"
      "Examples:\n"
      "  distbench run_tests my_test.config --test_sequencer=host1:10000 \\\n"
      "      --outfile=my_test.pb.gz --binary_output\n"
      "  distbench run_tests --test_sequencer=host1:10000 \\\n"
      "      --infile=my_test.config --label=nightly --detach");
  SetStoppableBody(command, chosen, [flags](base::StopSignals& stop) {
    return RunTests(*flags, stop);
  });
}

}  // namespace distbench::cli
