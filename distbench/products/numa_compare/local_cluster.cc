#include "distbench/products/numa_compare/local_cluster.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/security/job_secret.h"

namespace distbench::numa_compare {
namespace {

constexpr absl::Duration kEndPatience = absl::Seconds(15);

// Of a process's output.
constexpr size_t kKeptBytes = 64 << 10;

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
      name_(std::move(name)),
      reader_([this] { ReadOutput(); }) {}

ServerProcess::~ServerProcess() {
  Terminate();
  process_.HasEnded(kEndPatience);
  // Others may have inherited its output, and keep it open.
  end_of_reading_.Wake();
  reader_.join();
}

void ServerProcess::Terminate() { process_.Signal(SIGTERM); }

void ServerProcess::ReadOutput() {
  pollfd events[] = {
      {.fd = output_.get(), .events = POLLIN, .revents = 0},
      {.fd = end_of_reading_.fd(), .events = POLLIN, .revents = 0},
  };
  while (true) {
    if (poll(events, 2, -1) < 0 && errno == EINTR) continue;
    if (events[1].revents != 0) return;
    char bytes[4096];
    const ssize_t count = read(output_.get(), bytes, sizeof(bytes));
    absl::MutexLock lock(&mutex_);
    if (count <= 0) {
      is_at_end_ = true;
      return;
    }
    text_.append(bytes, count);
    if (text_.size() > 2 * kKeptBytes) {
      text_.erase(0, text_.size() - kKeptBytes);
    }
  }
}

std::optional<std::string> ServerProcess::LineWith(
    absl::string_view text) const {
  const size_t found = text_.find(text.data(), 0, text.size());
  if (found == std::string::npos) return std::nullopt;
  const size_t end = text_.find('\n', found);
  if (end == std::string::npos) return std::nullopt;
  const size_t before = text_.rfind('\n', found);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return text_.substr(begin, end - begin);
}

absl::StatusOr<std::string> ServerProcess::WaitForLine(absl::string_view text,
                                                       absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto is_decided = [this, text]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return is_at_end_ || LineWith(text).has_value();
  };
  mutex_.AwaitWithDeadline(absl::Condition(&is_decided), deadline);
  if (std::optional<std::string> line = LineWith(text)) return *line;
  return absl::AbortedError(absl::StrCat("\"", name_, "\" did not say \"", text,
                                         "\"; its output: ", text_));
}

absl::Status LocalCluster::MakeSecret() {
  const absl::Time now = absl::Now();
  const absl::StatusOr<security::TlsContents> secret =
      security::IssueJobCertificate(security::kJobName,
                                    now - security::kJobSecretClockTolerance,
                                    now + security::kLongestJobSecret);
  if (!secret.ok()) return secret.status();
  const absl::Status kept = secret_.Update(*secret);
  if (!kept.ok()) return kept;
  tls_ = secret_.FilesForOthers();
  tls_.name = security::kJobName;
  return absl::OkStatus();
}

absl::Status LocalCluster::StartProcess(std::vector<std::string> arguments) {
  arguments.push_back(absl::StrCat("--tls_ca=", tls_.ca));
  arguments.push_back(absl::StrCat("--tls_cert=", tls_.cert));
  arguments.push_back(absl::StrCat("--tls_key=", tls_.key));
  absl::StatusOr<std::unique_ptr<ServerProcess>> process =
      ServerProcess::Start(arguments);
  if (process.ok()) processes_.push_back(*std::move(process));
  return process.status();
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(
    const std::string& program,
    const std::vector<std::vector<std::string>>& node_flags,
    absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::unique_ptr<LocalCluster> cluster(new LocalCluster);
  absl::Status status = cluster->MakeSecret();
  if (!status.ok()) return status;
  status =
      cluster->StartProcess({program, "test_sequencer", "--listen=127.0.0.1",
                             "--port=0", kNodeTimeout});
  if (!status.ok()) return status;
  const absl::StatusOr<std::string> line =
      cluster->processes_[0]->WaitForLine("Listening at ", deadline);
  if (!line.ok()) return line.status();
  cluster->address_ = std::string(absl::StripPrefix(*line, "Listening at "));

  for (const std::vector<std::string>& flags : node_flags) {
    const std::string name =
        absl::StrCat("node", cluster->processes_.size() - 1);
    std::vector<std::string> arguments = {
        program,
        "node_manager",
        name,
        absl::StrCat("--test_sequencer=", cluster->address_),
        "--service_address=127.0.0.1",
        absl::StrCat("--tls_name=", cluster->tls_.name),
        "--plain_traffic"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    status = cluster->StartProcess(std::move(arguments));
    if (!status.ok()) return status;
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
