#include "distbench/products/launching/ssh/ssh_diagnosis.h"

#include <signal.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Explain(int exit_status, const std::string& words,
                    const RemoteProgram& program = {}) {
  return ExplainNotReady({.user = "", .host = "host1"}, exit_status << 8, words,
                         program);
}

TEST(SshDiagnosisTest, ExplainsWhatSshSays) {
  // Words of OpenSSH 9.2.
  EXPECT_THAT(Explain(255,
                      "No ED25519 host key is known for host1 and you have "
                      "requested strict checking.\r\n"
                      "Host key verification failed.\r\n"),
              AllOf(StartsWith("host1: "), HasSubstr("host key is unknown")));
  EXPECT_THAT(Explain(255,
                      "@    WARNING: REMOTE HOST IDENTIFICATION HAS "
                      "CHANGED!     @\nHost key verification failed.\n"),
              HasSubstr("host key has changed"));
  EXPECT_THAT(Explain(255, "u@host1: Permission denied (publickey).\r\n"),
              HasSubstr("ssh-copy-id"));
  EXPECT_THAT(Explain(255,
                      "ssh: Could not resolve hostname host1: Name or "
                      "service not known\r\n"),
              HasSubstr("cannot be resolved"));
  EXPECT_THAT(Explain(255,
                      "ssh: connect to host host1 port 22: Connection "
                      "refused\r\n"),
              HasSubstr("no ssh server listens there"));
  EXPECT_THAT(Explain(255,
                      "ssh: connect to host host1 port 22: Connection "
                      "timed out\r\n"),
              HasSubstr("did not answer"));
  EXPECT_EQ(Explain(255, "something new"), "host1: ssh failed");
}

TEST(SshDiagnosisTest, ExplainsAProgramThatCannotRun) {
  EXPECT_THAT(Explain(127, "distbench-launch: 1: exec: distbench: not found"),
              AllOf(HasSubstr("no program \"distbench\""),
                    HasSubstr("--remote_program"), HasSubstr("--copy")));
  EXPECT_THAT(Explain(127, "local-ssh: 1: exec: sssh: not found"),
              HasSubstr("no such ssh command on this machine"));
  EXPECT_THAT(Explain(127, "error while loading shared libraries: libgrpc++",
                      {.copied_bytes = 1}),
              HasSubstr("lacks libraries"));
  EXPECT_THAT(Explain(126, "Permission denied", {.copied_bytes = 1}),
              HasSubstr("--remote_dir"));
  EXPECT_THAT(Explain(1, "distbench: unknown subcommand \"launched\"; did"),
              HasSubstr("another version"));
  EXPECT_EQ(Explain(3, ""),
            "host1: its session ended before it was ready: ssh exited with "
            "status 3");
}

TEST(SshDiagnosisTest, ExplainsASignal) {
  EXPECT_THAT(ExplainNotReady({.user = "", .host = "host1"}, SIGTERM, "", {}),
              HasSubstr("ssh was killed by signal 15"));
}

}  // namespace
}  // namespace distbench::launching
