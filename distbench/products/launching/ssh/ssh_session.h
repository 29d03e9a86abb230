// A command on another host, by ssh.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_SESSION_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_SESSION_H_

#include <poll.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/products/launching/ssh/ssh_hosts.h"

namespace distbench::launching {

enum class SshStream { kOut, kErr };

// An ssh process with its input and its output. It never asks anything, and
// ends with this object and with the thread that started it. Nothing here
// blocks. Not thread-safe.
class SshSession {
 public:
  // Gets what the host and ssh itself write.
  using Listener = std::function<void(SshStream, absl::string_view bytes)>;

  // `ssh` is the user's ssh command, for the shell: a program with arguments.
  static absl::StatusOr<std::unique_ptr<SshSession>> Start(
      const std::string& ssh, const SshHost& host,
      const std::string& remote_command, Listener listener);

  // Sends bytes after those of earlier calls. Does nothing after CloseInput().
  void Send(const absl::Cord& bytes);

  // Ends the command's stdin once everything is sent.
  void CloseInput();

  // Adds what to wait for before the next Move().
  void AppendPollFds(std::vector<pollfd>& descriptors) const;

  // Writes and reads what is possible now, and notices the end of ssh.
  void Move();

  // The wait status of ssh once it has ended, as waitpid(2) has it.
  std::optional<int> wait_status() const { return wait_status_; }

  // Ends ssh, and with it the connection.
  void Kill();

 private:
  SshSession(base::ChildProcess process, base::FileDescriptor input_and_output,
             base::FileDescriptor errors, Listener listener);

  void Write();
  // Reads what is there, within limits; closes the descriptor at its end.
  void Read(base::FileDescriptor& from, SshStream stream);
  void ReadAll();

  base::ChildProcess process_;
  base::FileDescriptor input_and_output_;
  base::FileDescriptor errors_;
  const Listener listener_;
  absl::Cord unsent_;
  bool closes_input_ = false;
  std::optional<int> wait_status_;
};

// What `distbench launch` adds to the user's ssh command, up to the host.
std::vector<std::string> SshArguments(const SshHost& host);

// How the local shell names itself when there is no such ssh command.
inline constexpr absl::string_view kLocalShell = "local-ssh";

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_SESSION_H_
