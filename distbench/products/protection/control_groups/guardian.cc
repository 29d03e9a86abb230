// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/guardian.h"

#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/undo.h"

namespace distbench::protection {
namespace {

// Whoever ends a service sends these to all of its processes.
void OutliveSignals() {
  for (const int number :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2}) {
    signal(number, SIG_IGN);
  }
}

// Returns when the node manager says something or is gone; whether it is gone.
bool WaitForEnd(const base::FileDescriptor& socket) {
  char message = 0;
  ssize_t count = 0;
  do {
    count = read(socket.get(), &message, 1);
  } while (count < 0 && errno == EINTR);
  return count != 1 || message != kDismissed;
}

}  // namespace

absl::Status RunGuardian(base::FileDescriptor socket, const std::string& path,
                         GroupFiles& files) {
  OutliveSignals();
  auto journal = Journal::Join(path);
  if (!journal.ok()) return journal.status();
  if (write(socket.get(), &kOnWatch, 1) != 1) {
    return absl::ErrnoToStatus(errno, "cannot reach the node manager");
  }
  if (!WaitForEnd(socket)) return absl::OkStatus();
  const UndoneJournal undone = UndoJournal(**journal, files);
  for (const std::string& sentence : undone.sentences) {
    LOG(WARNING) << sentence;
  }
  return undone.status;
}

// The node manager's side of a guardian.

namespace {

// Patience with a busy host. The guardian starts before there is any traffic.
constexpr absl::Duration kStartPatience = absl::Seconds(10);
constexpr absl::Duration kEndPatience = absl::Seconds(10);

class GuardianProcess final : public Guardian {
 public:
  GuardianProcess(base::ChildProcess process, base::FileDescriptor socket)
      : process_(std::move(process)), socket_(std::move(socket)) {}

  // ChildProcess would kill it while it is at work.
  ~GuardianProcess() override {
    socket_.Close();
    process_.HasEnded(kEndPatience);
  }

  GuardianProcess(const GuardianProcess&) = delete;
  GuardianProcess& operator=(const GuardianProcess&) = delete;

  void Dismiss() override {
    // If that fails, it has ended.
    send(socket_.get(), &kDismissed, 1, MSG_NOSIGNAL);
    process_.HasEnded(kEndPatience);
  }

  absl::Status AwaitWatch() {
    pollfd event = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(
        &event, 1, static_cast<int>(kStartPatience / absl::Milliseconds(1)));
    char message = 0;
    if (ready == 1 && read(socket_.get(), &message, 1) == 1 &&
        message == kOnWatch) {
      return absl::OkStatus();
    }
    // If it has closed its end, it is about to exit.
    const bool has_ended =
        process_.HasEnded(ready == 1 ? kEndPatience : absl::ZeroDuration());
    return absl::UnavailableError(absl::StrCat(
        "the guardian of control groups, process ", process_.pid(), ", ",
        has_ended ? base::DescribeExit(process_.Finish()) : "does not answer",
        "; nothing is changed without it"));
  }

 private:
  base::ChildProcess process_;
  base::FileDescriptor socket_;
};

absl::StatusOr<base::ChildProcess> StartProcess(
    const std::string& journal, const base::FileDescriptor& socket) {
  return base::ChildProcess::Start({
      .path = "/proc/self/exe",  // also if the program's file was replaced
      .arguments = {"distbench", kGuardianSubcommand, journal},
      .inherited = socket.get(),
      .has_own_session = true,
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Guardian>> StartGuardianProcess(
    const std::string& journal) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pair of sockets");
  }
  base::FileDescriptor ours(ends[0]);
  base::FileDescriptor theirs(ends[1]);
  auto process = StartProcess(journal, theirs);
  if (!process.ok()) return process.status();
  // Otherwise the end of the guardian would not be seen.
  theirs.Close();
  auto guardian =
      std::make_unique<GuardianProcess>(*std::move(process), std::move(ours));
  absl::Status status = guardian->AwaitWatch();
  if (!status.ok()) return status;
  return guardian;
}

}  // namespace distbench::protection
