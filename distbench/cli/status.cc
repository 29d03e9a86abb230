#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/cli/run_table.h"
#include "distbench/client/test_client.h"
#include "distbench/numa/topology.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"

namespace distbench::cli {

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
  runs.erase(std::remove_if(runs.begin(), runs.end(),
                            [](const RunDescription& run) {
                              return run.state() != RunDescription::WAITING;
                            }),
             runs.end());
  std::sort(runs.begin(), runs.end(),
            [](const RunDescription& a, const RunDescription& b) {
              return a.queue_position() < b.queue_position();
            });
  return runs;
}

void PrintRun(const RunDescription& run) {
  std::cout << "  " << run.id() << " of " << run.client();
  if (!run.label().empty()) {
    std::cout << ", " << Printable(run.label());
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
