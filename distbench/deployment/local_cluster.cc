#include "distbench/deployment/local_cluster.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "distbench/deployment/server_process.h"

namespace distbench {
namespace {

// On one host, a node's end is noticed at once by its closed connection. A node
// that is slow because overload is being measured must not be declared lost.
constexpr char kNodeTimeout[] = "--node_timeout=60s";

}  // namespace

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(
    const std::string& program,
    const std::vector<std::vector<std::string>>& node_flags,
    absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::unique_ptr<LocalCluster> cluster(new LocalCluster);
  absl::StatusOr<std::unique_ptr<ServerProcess>> sequencer =
      ServerProcess::Start({program, "test_sequencer", "--listen=127.0.0.1",
                            "--port=0", kNodeTimeout});
  if (!sequencer.ok()) return sequencer.status();
  cluster->processes_.push_back(*std::move(sequencer));
  const absl::StatusOr<std::string> line =
      cluster->processes_[0]->WaitForLine("Listening at ", deadline);
  if (!line.ok()) return line.status();
  cluster->address_ = std::string(absl::StripPrefix(*line, "Listening at "));

  for (const std::vector<std::string>& flags : node_flags) {
    const std::string name =
        absl::StrCat("node", cluster->processes_.size() - 1);
    std::vector<std::string> arguments = {
        program, "node_manager", name,
        absl::StrCat("--test_sequencer=", cluster->address_),
        "--service_address=127.0.0.1"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    absl::StatusOr<std::unique_ptr<ServerProcess>> node =
        ServerProcess::Start(arguments);
    if (!node.ok()) return node.status();
    cluster->processes_.push_back(*std::move(node));
  }
  for (size_t i = 1; i < cluster->processes_.size(); ++i) {
    const absl::StatusOr<std::string> registered =
        cluster->processes_[i]->WaitForLine(" registered with ", deadline);
    if (!registered.ok()) return registered.status();
  }
  return cluster;
}

// Nodes end before the sequencer, which they would otherwise miss. All of them
// are told first, because each takes its time.
LocalCluster::~LocalCluster() {
  for (size_t i = 1; i < processes_.size(); ++i) processes_[i]->Terminate();
  while (!processes_.empty()) processes_.pop_back();
}

}  // namespace distbench
