// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A command on another host, by ssh.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_SESSION_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_SESSION_H_

#include <poll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
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

// What ssh has a host's shell do.

// Quotes a text, so that a shell takes it as one word with exactly these bytes,
// none of which is NUL. For POSIX shells and fish; csh cannot have line feeds
// in words.
std::string QuoteForShell(absl::string_view text);

// The words, each quoted, with spaces between them.
std::string QuoteWords(absl::Span<const std::string> words);

// The program that hosts run.
struct RemoteProgram {
  // On the hosts; without a '/' it is searched for in PATH. Not for copies.
  std::string path = "distbench";

  // Above 0, the program is this many bytes, which come first on stdin. The
  // host keeps them in a fresh folder while the program runs.
  int64_t copied_bytes = 0;

  // Where the program runs, and where copies get their folder. Empty: the
  // user's home, and $TMPDIR or /tmp.
  std::string folder = "";
};

// The command for ssh, whose user may have any login shell: runs the program
// with the arguments. It exits as the program does; with 126 or 127 if there is
// none that can run.
std::string RemoteCommand(const RemoteProgram& program,
                          absl::Span<const std::string> arguments);

// The exit status of ssh when it failed itself.
inline constexpr int kSshFailed = 255;

// Explains why a host's session ended before the host was ready, and what to
// do about it, in one line that begins with the host. `wait_status` is that of
// ssh, `words` what ssh and the host wrote.
std::string ExplainNotReady(const SshHost& host, int wait_status,
                            absl::string_view words,
                            const RemoteProgram& program);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_SESSION_H_
