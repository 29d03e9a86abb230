#include "distbench/products/launching/ssh/ssh_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::launching {
namespace {

// `ssh` may be several words, which the shell splits as it does for git's
// GIT_SSH_COMMAND.
std::string LocalScript(const std::string& ssh) {
  constexpr int kNumber = base::ChildProgram::kInheritedNumber;
  return absl::StrCat("exec ", ssh, " \"$@\" <&", kNumber, " >&", kNumber, " ",
                      kNumber, ">&-");
}

// More than the kernel keeps of what a process wrote before its end. Without a
// limit, a host that writes faster than it is read would keep the others, and a
// stop, waiting for ever.
constexpr int kReadsAtOnce = 64;

bool IsOverForNow(ssize_t count) {
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace

std::vector<std::string> SshArguments(const SshHost& host) {
  // Of settings that are given twice ssh takes the first, so the user's count.
  std::vector<std::string> arguments = {
      "-T", "-x", "-a",                // no terminal, no forwarding
      "-o", "BatchMode=yes",           // a question would never be answered
      "-o", "ConnectTimeout=20",       // seconds
      "-o", "ServerAliveInterval=15",  // a dead host is noticed after 60 s
      "-o", "ServerAliveCountMax=4",   //
      "-o", "ClearAllForwardings=yes",
      // A master process would outlive the session.
      "-o", "ControlMaster=no"};
  if (!host.user.empty()) arguments.insert(arguments.end(), {"-l", host.user});
  if (host.port != 0) {
    arguments.insert(arguments.end(), {"-p", absl::StrCat(host.port)});
  }
  arguments.insert(arguments.end(), {"--", host.host});
  return arguments;
}

// The stdin and stdout of ssh are one socket: a child gets a single descriptor
// besides the pipe of its output, which is left to stderr.
absl::StatusOr<std::unique_ptr<SshSession>> SshSession::Start(
    const std::string& ssh, const SshHost& host,
    const std::string& remote_command, Listener listener) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket for ssh");
  }
  base::FileDescriptor own_end(ends[0]);
  const base::FileDescriptor end_of_ssh(ends[1]);
  std::vector<std::string> arguments = {"sh", "-c", LocalScript(ssh),
                                        std::string(kLocalShell)};
  for (std::string& argument : SshArguments(host)) {
    arguments.push_back(std::move(argument));
  }
  arguments.push_back(remote_command);
  base::FileDescriptor errors;
  absl::StatusOr<base::ChildProcess> process =
      base::ChildProcess::Start({.path = "/bin/sh",
                                 .arguments = std::move(arguments),
                                 .inherited = end_of_ssh.get(),
                                 .ends_with_parent = true,
                                 .has_own_session = true},
                                &errors);
  if (!process.ok()) return process.status();
  fcntl(own_end.get(), F_SETFL, O_NONBLOCK);
  fcntl(errors.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<SshSession>(
      new SshSession(*std::move(process), std::move(own_end), std::move(errors),
                     std::move(listener)));
}

SshSession::SshSession(base::ChildProcess process,
                       base::FileDescriptor input_and_output,
                       base::FileDescriptor errors, Listener listener)
    : process_(std::move(process)),
      input_and_output_(std::move(input_and_output)),
      errors_(std::move(errors)),
      listener_(std::move(listener)) {}

void SshSession::Send(const absl::Cord& bytes) {
  if (!closes_input_) unsent_.Append(bytes);
}

void SshSession::CloseInput() {
  closes_input_ = true;
  Write();
}

void SshSession::AppendPollFds(std::vector<pollfd>& descriptors) const {
  if (input_and_output_.is_open()) {
    const int events = unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
    descriptors.push_back({.fd = input_and_output_.get(),
                           .events = static_cast<int16_t>(events),
                           .revents = 0});
  }
  if (errors_.is_open()) {
    descriptors.push_back(
        {.fd = errors_.get(), .events = POLLIN, .revents = 0});
  }
}

// What ssh wrote before its end is read after it. Processes that ssh left
// behind may keep the streams open, so their ends are not waited for.
void SshSession::Move() {
  if (wait_status_) return;
  Write();
  const bool has_ended = process_.HasEnded(absl::ZeroDuration());
  ReadAll();
  if (has_ended) wait_status_ = process_.Finish();
}

void SshSession::Kill() {
  if (wait_status_) return;
  process_.Signal(SIGKILL);
  wait_status_ = process_.Finish();
}

void SshSession::Write() {
  while (!unsent_.empty() && input_and_output_.is_open()) {
    const absl::string_view chunk = *unsent_.chunk_begin();
    const ssize_t count =
        send(input_and_output_.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL);
    if (IsOverForNow(count)) return;
    if (count < 0) {
      unsent_.Clear();  // ssh has ended, and will say why
    } else {
      unsent_.RemovePrefix(count);
    }
  }
  if (closes_input_ && input_and_output_.is_open()) {
    shutdown(input_and_output_.get(), SHUT_WR);
  }
}

void SshSession::Read(base::FileDescriptor& from, SshStream stream) {
  char bytes[16384];
  for (int i = 0; i < kReadsAtOnce && from.is_open(); ++i) {
    const ssize_t count = read(from.get(), bytes, sizeof(bytes));
    if (IsOverForNow(count)) return;
    if (count <= 0) {
      from.Close();
    } else {
      listener_(stream, absl::string_view(bytes, count));
    }
  }
}

void SshSession::ReadAll() {
  Read(input_and_output_, SshStream::kOut);
  Read(errors_, SshStream::kErr);
}

}  // namespace distbench::launching
