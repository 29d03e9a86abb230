#include "distbench/products/protection/control_groups/guardian.h"

#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/products/protection/control_groups/guardian_messages.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/recovery.h"

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

}  // namespace distbench::protection
