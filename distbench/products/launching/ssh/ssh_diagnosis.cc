#include "distbench/products/launching/ssh/ssh_diagnosis.h"

#include <sys/wait.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/child_process.h"
#include "distbench/products/launching/ssh/ssh_session.h"

namespace distbench::launching {
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
