// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/launched_rank.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/base/host_port.h"
#include "distbench/base/stop_signals.h"
#include "distbench/products/launching/ssh/start_message.h"
#include "distbench/security/job_secret.h"
#include "distbench/security/tls_files.h"

namespace distbench::launching {
namespace {

// How long join may take to keep what it measured.
constexpr absl::Duration kEndPatience = absl::Minutes(1);

// How often to look for the leader's file and for a stop.
constexpr absl::Duration kInterval = absl::Milliseconds(50);

// The name that `join --rendezvous` looks for.
constexpr char kLeaderFile[] = "leader";

// `files` keeps the secret.
absl::StatusOr<std::string> SecretFlag(const security::TlsContents& secret,
                                       const std::string& folder,
                                       security::TlsFilesInMemory& files) {
  if (secret == security::TlsContents()) return "--plain";
  absl::Status status = files.Update(secret);
  if (status.ok()) {
    status = security::LinkJobSecret(folder, files.FilesForOthers());
  }
  if (!status.ok()) return status;
  return absl::StrCat("--secret=", folder);
}

// The port in the file that rank 0 writes, once it has done so.
std::optional<int> PublishedPort(const std::string& rendezvous) {
  const std::string leader = base::FirstLine(rendezvous + "/" + kLeaderFile);
  int port = 0;
  if (!absl::SimpleAtoi(base::SplitHostPort(leader).second, &port)) {
    return std::nullopt;
  }
  return port;
}

// A running join.
class JoinProcess {
 public:
  JoinProcess(base::ChildProcess process, base::StopSignals& stop)
      : process_(std::move(process)), stop_(stop) {
    stop_.SetHandler([this] { process_.Signal(SIGTERM); });
  }
  ~JoinProcess() { stop_.SetHandler({}); }

  JoinProcess(const JoinProcess&) = delete;
  JoinProcess& operator=(const JoinProcess&) = delete;

  // Waits for the end, and calls `each_time` now and then.
  int Wait(const std::function<void()>& each_time) {
    absl::Time deadline = absl::InfiniteFuture();
    while (!process_.HasEnded(kInterval) && absl::Now() < deadline) {
      each_time();
      if (stop_.requested() && deadline == absl::InfiniteFuture()) {
        deadline = absl::Now() + kEndPatience;
      }
    }
    stop_.SetHandler({});
    return process_.Finish();
  }

 private:
  base::ChildProcess process_;
  base::StopSignals& stop_;
};

}  // namespace

absl::StatusOr<int> RunLaunchedRank(
    const LaunchedRank& rank, int input, base::StopSignals& stop,
    const std::function<void(absl::string_view line)>& say) {
  say(kReadyLine);
  const absl::StatusOr<StartMessage> message = ReadStartMessage(input);
  if (!message.ok()) return message.status();
  const absl::StatusOr<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return folder.status();

  const bool is_leader = message->leader.empty();
  std::vector<std::string> arguments = {rank.program, "join"};
  security::TlsFilesInMemory secret_files;
  const absl::StatusOr<std::string> secret_flag =
      SecretFlag(message->secret, folder->path(), secret_files);
  if (!secret_flag.ok()) return secret_flag.status();
  arguments.push_back(*secret_flag);
  arguments.push_back(is_leader ? absl::StrCat("--rendezvous=", folder->path())
                                : absl::StrCat("--leader=", message->leader));
  arguments.insert(arguments.end(), rank.join_arguments.begin(),
                   rank.join_arguments.end());

  absl::StatusOr<base::ChildProcess> process = base::ChildProcess::Start(
      {.path = rank.program, .arguments = arguments, .ends_with_parent = true});
  if (!process.ok()) return process.status();
  JoinProcess join(*std::move(process), stop);
  const InputWatch watch(input, [&stop] { stop.Request(); });
  bool is_published = !is_leader;
  return join.Wait([&] {
    if (is_published) return;
    const std::optional<int> port = PublishedPort(folder->path());
    if (port) say(PortLine(*port));
    is_published = port.has_value();
  });
}

namespace {

constexpr char kInMemory[] = "/dev/shm";
constexpr char kPattern[] = "/distbench.XXXXXX";

std::string TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

}  // namespace

absl::StatusOr<PrivateFolder> PrivateFolder::Make() {
  const std::string elsewhere = TemporaryFolder();
  for (const std::string& place : {std::string(kInMemory), elsewhere}) {
    std::string path = place + kPattern;
    if (mkdtemp(path.data()) != nullptr) return PrivateFolder(std::move(path));
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot make a folder in ", kInMemory, " or ",
                          elsewhere, "; set TMPDIR to one that is writable"));
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;  // nothing more can be done
  std::filesystem::remove_all(path_, ignored);
}

InputWatch::InputWatch(int input, std::function<void()> at_end)
    : thread_([this, input, at_end = std::move(at_end)] {
        Watch(input, at_end);
      }) {}

InputWatch::~InputWatch() {
  end_of_watch_.Wake();
  thread_.join();
}

void InputWatch::Watch(int input, const std::function<void()>& at_end) {
  pollfd descriptors[] = {
      {.fd = input, .events = POLLIN, .revents = 0},
      {.fd = end_of_watch_.fd(), .events = POLLIN, .revents = 0},
  };
  while (true) {
    if (poll(descriptors, 2, -1) < 0 && errno == EINTR) continue;
    if (descriptors[1].revents != 0) return;
    char ignored[512];
    const ssize_t count = read(input, ignored, sizeof(ignored));
    if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) {
      continue;
    }
    at_end();  // an input that cannot be read has ended, too
    return;
  }
}

}  // namespace distbench::launching
