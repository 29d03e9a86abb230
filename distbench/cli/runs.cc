// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/time_units.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/run_table.h"
#include "distbench/cli/test_output.h"
#include "distbench/client/console_run.h"
#include "distbench/client/test_client.h"
#include "distbench/numa/topology.h"
#include "distbench/report/findings/findings.h"
#include "distbench/results/engine_text.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::cli {
namespace {

struct RunsFlags {
  std::string test_sequencer;
  security::TlsFiles tls;
  std::string run_id;
  std::string format = "text";
  TestOutputFlags output;
  bool quiet = false;  // of wait
};

// On failure, the error may suggest a similar id.
absl::StatusOr<RunDescription> FindRun(client::TestClient& client,
                                       const std::string& run_id) {
  absl::StatusOr<std::vector<RunDescription>> runs = client.ListRuns();
  if (!runs.ok()) return runs.status();
  for (RunDescription& run : *runs) {
    if (run.id() == run_id) return std::move(run);
  }
  // Ask the sequencer for its own explanation of an unknown id.
  RunDescription unknown;
  unknown.set_id(run_id);
  TestSequenceResults results;
  const absl::Status status = client.GetRun(
      unknown, /*wait=*/false, [](const RunTestsEvent&) {}, results);
  return status.ok() ? absl::NotFoundError("there is no such run") : status;
}

absl::StatusOr<int> ListRuns(client::TestClient& client, const RunsFlags& flags,
                             base::StopSignals&) {
  const absl::StatusOr<std::vector<RunDescription>> runs = client.ListRuns();
  if (!runs.ok()) return Fail(runs.status(), report::kExitRunFailed);
  if (flags.format == "json") {
    std::cout << RunsJson(*runs);
  } else if (runs->empty()) {
    std::cout << "No runs\n";
  } else {
    std::cout << RunTable(*runs);
  }
  std::cout << std::flush;
  return report::kExitOk;
}

// Reports problems with storing the result, in addition to the result itself.
void SayStorageProblem(const RunDescription& run, const absl::Status& status) {
  if (run.message().empty() || run.message() == status.message()) return;
  std::cerr << "distbench: run " << run.id() << ": "
            << base::PrintableLine(run.message()) << std::endl;
}

absl::StatusOr<int> Get(client::TestClient& client, const RunsFlags& flags,
                        base::StopSignals& stop) {
  const absl::Status writable = CheckOutput(flags.output);
  if (!writable.ok()) return writable;
  const absl::StatusOr<RunDescription> run = FindRun(client, flags.run_id);
  if (!run.ok()) return run.status();
  const client::ConsoleRun outcome =
      client::GetOnConsole(client, *run, PrinterOf(flags.output), stop);
  SayStorageProblem(*run, outcome.status);
  return FinishRun(outcome, flags.output);
}

absl::StatusOr<int> Wait(client::TestClient& client, const RunsFlags& flags,
                         base::StopSignals& stop) {
  const absl::Status writable = CheckOutput(flags.output);
  if (!writable.ok()) return writable;
  const absl::StatusOr<RunDescription> run = FindRun(client, flags.run_id);
  if (!run.ok()) return run.status();
  const client::RunProgress progress =
      flags.quiet ? client::RunProgress::kNone : client::RunProgress::kShown;
  client::ConsoleRun outcome = client::FollowOnConsole(
      client, *run, progress, PrinterOf(flags.output), stop);
  if (stop.requested()) {
    outcome.status = absl::CancelledError(
        "no longer waiting; the run goes on (distbench runs cancel ends it)");
  }
  return FinishRun(outcome, flags.output);
}

absl::StatusOr<int> Cancel(client::TestClient& client, const RunsFlags& flags,
                           base::StopSignals&) {
  const absl::Status status = client.CancelRun(flags.run_id);
  if (!status.ok()) return status;
  std::cout << "Cancelled run " << flags.run_id << std::endl;
  return report::kExitOk;
}

using RunAction = absl::StatusOr<int> (*)(client::TestClient& client,
                                          const RunsFlags& flags,
                                          base::StopSignals& stop);

absl::StatusOr<int> Run(RunAction action, const RunsFlags& flags,
                        base::StopSignals& stop) {
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return client.status();
  return action(**client, flags, stop);
}

// Adds a subcommand to "runs".
CLI::App& AddAction(CLI::App& runs, const std::string& name,
                    const std::string& description, RunAction action,
                    std::shared_ptr<RunsFlags> flags, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(runs, name, description);
  AddTestSequencerFlag(command, flags->test_sequencer);
  AddTlsFlags(command, flags->tls);
  SetStoppableBody(command, chosen, [action, flags](base::StopSignals& stop) {
    return Run(action, *flags, stop);
  });
  return command;
}

void AddRunId(CLI::App& command, RunsFlags& flags) {
  AddArgument(command, "RUN", flags.run_id, "RUN",
              "The run's id, such as 20260131-235959-000");
  Require(command, "RUN");
}

void AddRunList(CLI::App& runs, CommandBody& chosen) {
  auto flags = std::make_shared<RunsFlags>();
  CLI::App& command =
      AddAction(runs, "list",
                "Lists the runs that the test sequencer knows, oldest first",
                ListRuns, flags, chosen);
  AddChoiceFlag(command, "--format", flags->format, {"text", "json"},
                "text|json", "Output format");
  SetFooter(command,
            "Example:\n  distbench runs list --test_sequencer=host1:10000");
}

void AddGet(CLI::App& runs, CommandBody& chosen) {
  auto flags = std::make_shared<RunsFlags>();
  CLI::App& command = AddAction(
      runs, "get", "Gets the results of a finished run", Get, flags, chosen);
  AddRunId(command, *flags);
  AddResultFlags(command, flags->output);
  SetFooter(command,
            "Prints summaries and exits as run_tests does.\n\n"
            "Example:\n"
            "  distbench runs get 20260131-235959-000 \\\n"
            "      --test_sequencer=host1:10000 --outfile=my_test.pb.gz");
}

void AddCancel(CLI::App& runs, CommandBody& chosen) {
  auto flags = std::make_shared<RunsFlags>();
  CLI::App& command = AddAction(runs, "cancel", "Ends a waiting or running run",
                                Cancel, flags, chosen);
  AddRunId(command, *flags);
  SetFooter(command,
            "What was measured is kept.\n\n"
            "Example:\n"
            "  distbench runs cancel 20260131-235959-000 \\\n"
            "      --test_sequencer=host1:10000");
}

void AddWait(CLI::App& runs, CommandBody& chosen) {
  auto flags = std::make_shared<RunsFlags>();
  CLI::App& command =
      AddAction(runs, "wait", "Waits for the end of a run and shows progress",
                Wait, flags, chosen);
  AddRunId(command, *flags);
  AddResultFlags(command, flags->output);
  AddQuietFlag(command, flags->quiet);
  SetFooter(
      command,
      "Prints and exits as run_tests does. SIGINT or SIGTERM ends the wait,\n"
      "not the run.\n\n"
      "Example:\n"
      "  distbench runs wait 20260131-235959-000 \\\n"
      "      --test_sequencer=host1:10000 --outfile=my_test.pb.gz");
}

}  // namespace

void AddRunsCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "runs", "Lists, gets, cancels and awaits runs of run_tests");
  AllowOneSubcommand(command);
  AddRunList(command, chosen);
  AddGet(command, chosen);
  AddCancel(command, chosen);
  AddWait(command, chosen);
  SetFooter(
      command,
      "A run is what one run_tests submits. The test sequencer keeps its\n"
      "results for as long as it runs, and longer with --results_dir.\n\n"
      "Examples:\n"
      "  distbench runs list --test_sequencer=host1:10000\n"
      "  distbench help runs get");
}

// ---- status -----------------------------------------------------------------

namespace {

void PrintNode(const NodeStatus& node) {
  std::cout << "  " << node.config().node_alias() << " on "
            << node.registration().hostname()
            << (node.busy() ? ", busy" : ", idle");
  for (const Attribute& attribute : node.registration().attributes()) {
    std::cout << ' ' << attribute.name() << '=' << attribute.value();
  }
  std::cout << '\n';
  const std::string topology =
      numa::DescribeTopology(node.registration().topology());
  if (!topology.empty()) std::cout << "    NUMA " << topology << '\n';
  for (const EngineProgram& engine : node.registration().engines()) {
    std::cout << "    engine "
              << base::PrintableLine(results::EngineText(engine)) << '\n';
  }
}

std::string DescribeTest(const GetStatusResponse& status) {
  if (!status.has_running_test()) return "nothing";
  std::string text = status.running_test();
  if (!status.has_running_time_us()) return text + ", being set up";
  absl::StrAppend(&text, ", for ",
                  status.running_time_us() / base::kUsPerSecond, " s");
  if (status.has_expected_duration_us()) {
    absl::StrAppend(&text, " of ",
                    status.expected_duration_us() / base::kUsPerSecond, " s");
  }
  const TrafficProgress& progress = status.progress();
  absl::StrAppend(&text, ", ", progress.succeeded_count(), " RPCs");
  if (progress.offered_count() > 0 && progress.has_open_loop_ended_count()) {
    absl::StrAppend(&text, ", ", progress.open_loop_ended_count(), " of ",
                    progress.offered_count(), " offered have ended");
  }
  absl::StrAppend(&text, ", ", progress.in_flight_count(), " in flight, ",
                  progress.failed_count(), " failed");
  return text;
}

// Returns the waiting runs, the next one first.
std::vector<RunDescription> WaitingRuns(std::vector<RunDescription> runs) {
  std::erase_if(runs, [](const RunDescription& run) {
    return run.state() != RunDescription::WAITING;
  });
  std::sort(runs.begin(), runs.end(),
            [](const RunDescription& a, const RunDescription& b) {
              return a.queue_position() < b.queue_position();
            });
  return runs;
}

void PrintRun(const RunDescription& run) {
  std::cout << "  " << run.id() << " of " << run.client();
  if (!run.label().empty()) {
    std::cout << ", " << base::PrintableLine(run.label());
  }
  std::cout << ": " << DescribeTests(run) << '\n';
}

void PrintStatus(const GetStatusResponse& status,
                 const std::vector<RunDescription>& waiting) {
  std::cout << "Nodes: " << status.nodes_size() << '\n';
  for (const NodeStatus& node : status.nodes()) PrintNode(node);
  std::cout << "Running: " << DescribeTest(status)
            << "\nWaiting runs: " << status.queued_sequence_count() << '\n';
  for (const RunDescription& run : waiting) PrintRun(run);
  std::cout << std::flush;
}

struct StatusFlags {
  std::string test_sequencer;
  security::TlsFiles tls;
};

absl::StatusOr<int> ShowStatus(const StatusFlags& flags) {
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(flags.test_sequencer, flags.tls);
  if (!client.ok()) return client.status();
  const absl::StatusOr<GetStatusResponse> status = (*client)->GetStatus();
  if (!status.ok()) return Fail(status.status(), report::kExitRunFailed);
  absl::StatusOr<std::vector<RunDescription>> runs =
      std::vector<RunDescription>();
  // A list of many finished runs is not cheap.
  if (status->queued_sequence_count() > 0) runs = (*client)->ListRuns();
  if (!runs.ok()) return Fail(runs.status(), report::kExitRunFailed);
  PrintStatus(*status, WaitingRuns(*std::move(runs)));
  return report::kExitOk;
}

}  // namespace

void AddStatusCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "status", "Shows a test sequencer's nodes and what they are doing");
  auto flags = std::make_shared<StatusFlags>();
  AddTestSequencerFlag(command, flags->test_sequencer);
  AddTlsFlags(command, flags->tls);
  SetFooter(command,
            "Example:\n  distbench status --test_sequencer=host1:10000");
  SetBody(command, chosen, [flags] { return ShowStatus(*flags); });
}

}  // namespace distbench::cli
