#include "distbench/products/numa_compare/local_cluster.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "distbench/flags/connection_defaults.h"

namespace distbench::numa_compare {
namespace {

constexpr absl::Duration kEndPatience = absl::Seconds(15);
constexpr absl::Duration kPollInterval = absl::Milliseconds(20);

// On one host, a node's end is noticed at once by its closed connection. A node
// that is slow because overload is being measured must not be declared lost.
constexpr char kNodeTimeout[] = "--node_timeout=60s";

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::vector<std::string>& arguments) {
  base::FileDescriptor output;
  absl::StatusOr<base::ChildProcess> process = base::ChildProcess::Start(
      {.path = arguments.front(),
       .arguments = arguments,
       // Those of the user are for another sequencer.
       .more_environment = flags::NoConnectionDefaults(),
       .ends_with_parent = true},
      &output);
  if (!process.ok()) return process.status();
  return std::unique_ptr<ServerProcess>(new ServerProcess(
      *std::move(process), std::move(output), absl::StrJoin(arguments, " ")));
}

ServerProcess::ServerProcess(base::ChildProcess process,
                             base::FileDescriptor output, std::string name)
    : process_(std::move(process)),
      output_(std::move(output)),
      name_(std::move(name)) {}

ServerProcess::~ServerProcess() {
  Terminate();
  const absl::Time deadline = absl::Now() + kEndPatience;
  absl::Duration pause = absl::ZeroDuration();
  while (!process_.HasEnded(pause) && absl::Now() < deadline) {
    // What it says meanwhile is read, so that it is not blocked by that.
    pause = ReadSome(absl::Now()) ? absl::ZeroDuration() : kPollInterval;
  }
}

void ServerProcess::Terminate() { process_.Signal(SIGTERM); }

bool ServerProcess::ReadSome(absl::Time deadline) {
  pollfd event = {.fd = output_.get(), .events = POLLIN, .revents = 0};
  const int64_t patience_ms =
      std::max<int64_t>(0, absl::ToInt64Milliseconds(deadline - absl::Now()));
  if (poll(&event, 1, static_cast<int>(patience_ms)) <= 0) return false;
  char bytes[4096];
  const ssize_t count = read(output_.get(), bytes, sizeof(bytes));
  if (count <= 0) return false;
  text_.append(bytes, count);
  return true;
}

absl::StatusOr<std::string> ServerProcess::WaitForLine(absl::string_view text,
                                                       absl::Time deadline) {
  do {
    for (const absl::string_view line : absl::StrSplit(text_, '\n')) {
      if (line.find(text) != absl::string_view::npos &&
          text_.find('\n', line.data() - text_.data()) != std::string::npos) {
        return std::string(line);
      }
    }
  } while (ReadSome(deadline));
  return absl::AbortedError(absl::StrCat("\"", name_, "\" did not say \"", text,
                                         "\"; its output: ", text_));
}

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

}  // namespace distbench::numa_compare
