// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/ssh_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/child_process.h"

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

namespace {

// $1 is the folder, $2 the program.
constexpr char kRunInstalled[] =
    R"sh(if [ -n "$1" ]; then cd -- "$1" || exit 1; fi; )sh"
    R"sh(program=$2; shift 2; exec "$program" "$@")sh";

// $1 is the folder, $2 the number of bytes of the program. The shell stays, to
// remove the copy whatever becomes of the program. Nothing that follows the
// copy on stdin may be read ahead: `launch` sends it when the program asks.
constexpr char kRunCopy[] =
    R"sh(place=${TMPDIR:-/tmp}; )sh"
    R"sh(if [ -n "$1" ]; then cd -- "$1" || exit 1; place=$PWD; fi; )sh"
    R"sh(copy=$(mktemp -d "$place/distbench.XXXXXXXX") || exit 1; )sh"
    R"sh(trap 'rm -rf "$copy"' EXIT; trap 'exit 1' HUP INT TERM; )sh"
    R"sh(head -c "$2" >"$copy/distbench" || exit 1; )sh"
    R"sh([ "$(wc -c <"$copy/distbench")" -eq "$2" ] || exit 1; )sh"
    R"sh(chmod 700 "$copy/distbench"; shift 2; "$copy/distbench" "$@")sh";

bool IsPlain(char c) {
  return absl::ascii_isalnum(c) || absl::StrContains("_-./:=,@+", c);
}

}  // namespace

// Not everything can be in single quotes: the single quote in no shell, the
// backslash in fish, and '!' in csh. These are written between quoted parts, in
// ways that all shells understand.
std::string QuoteForShell(absl::string_view text) {
  std::string quoted;
  bool is_open = false;
  const auto set_open = [&](bool open) {
    if (open != is_open) quoted += '\'';
    is_open = open;
  };
  for (const char c : text) {
    if (c == '\'') {
      set_open(false);
      quoted += "\"'\"";
    } else if (c == '\\' || c == '!') {
      set_open(false);
      absl::StrAppend(&quoted, "\\", absl::string_view(&c, 1));
    } else {
      // zsh takes a word that begins with '=' for a command's path.
      if (!IsPlain(c) || (c == '=' && quoted.empty())) set_open(true);
      quoted += c;
    }
  }
  set_open(false);
  return quoted.empty() ? "''" : quoted;
}

std::string QuoteWords(absl::Span<const std::string> words) {
  return absl::StrJoin(words, " ",
                       [](std::string* text, const std::string& word) {
                         absl::StrAppend(text, QuoteForShell(word));
                       });
}

std::string RemoteCommand(const RemoteProgram& program,
                          absl::Span<const std::string> arguments) {
  const bool is_copied = program.copied_bytes > 0;
  std::vector<std::string> words = {
      "exec",
      "/bin/sh",
      "-c",
      is_copied ? kRunCopy : kRunInstalled,
      "distbench-launch",
      program.folder,
      is_copied ? absl::StrCat(program.copied_bytes) : program.path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return QuoteWords(words);
}

namespace {

// Exit statuses of a shell.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

// What OpenSSH writes when it fails, and what that means for the user. The
// first that is found counts.
struct SshFailure {
  absl::string_view words;
  absl::string_view meaning;
};

constexpr SshFailure kSshFailures[] = {
    {"REMOTE HOST IDENTIFICATION HAS CHANGED",
     "its host key has changed: if that was expected, remove the old key "
     "(ssh-keygen -R HOST) and log in once by hand"},
    {"Host key verification failed",
     "its host key is unknown: log in once by hand (ssh HOST) and compare the "
     "key, or add it to ~/.ssh/known_hosts"},
    {"Permission denied",
     "it does not let you in without a password: give it your public key "
     "(ssh-copy-id HOST), and load a key that has a passphrase (ssh-add)"},
    {"Could not resolve hostname",
     "its name cannot be resolved: is it spelt right?"},
    {"Connection refused", "no ssh server listens there"},
    {"timed out", "it did not answer: is it up, and reachable from here?"},
    {"No route to host", "there is no route to it"},
    {"Network is unreachable", "there is no route to its network"},
    {"Connection closed", "its ssh server closed the connection"},
};

std::string MeaningOfSshFailure(absl::string_view words) {
  for (const SshFailure& failure : kSshFailures) {
    if (absl::StrContains(words, failure.words)) {
      return std::string(failure.meaning);
    }
  }
  return "ssh failed";
}

std::string MeaningOfNotFound(absl::string_view words,
                              const RemoteProgram& program) {
  if (absl::StrContains(words, absl::StrCat(kLocalShell, ":"))) {
    return "there is no such ssh command on this machine: install "
           "openssh-client, or give --ssh another one";
  }
  if (absl::StrContains(words, "shared librar")) {
    return "it lacks libraries of distbench: install distbench's package "
           "there, or run launch where the same distribution runs";
  }
  if (program.copied_bytes > 0) return "the copy of distbench cannot run there";
  return absl::StrCat("there is no program \"", program.path,
                      "\": install distbench there, say where it is "
                      "(--remote_program=PATH), or copy it (--copy)");
}

}  // namespace

std::string ExplainNotReady(const SshHost& host, int wait_status,
                            absl::string_view words,
                            const RemoteProgram& program) {
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  std::string meaning;
  if (status == kSshFailed) {
    meaning = MeaningOfSshFailure(words);
  } else if (status == kNotFound) {
    meaning = MeaningOfNotFound(words, program);
  } else if (status == kCannotRun) {
    meaning =
        "the program cannot be executed there: it is for another kind of "
        "machine, or lies where programs are forbidden (--remote_dir says "
        "where a copy goes)";
  } else if (absl::StrContains(words, "unknown subcommand")) {
    meaning =
        "its distbench is another version: install the same one as here, or "
        "copy it (--copy)";
  } else {
    meaning = absl::StrCat("its session ended before it was ready: ssh ",
                           base::DescribeExit(wait_status));
  }
  return absl::StrCat(DescribeHost(host), ": ", meaning);
}

}  // namespace distbench::launching
