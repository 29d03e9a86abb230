// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/ssh_session.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/patience.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A fresh folder that ends with the test.
class RemoteShellTest : public testing::Test {
 protected:
  RemoteShellTest() {
    std::string name = testing::TempDir() + "/remote_shell.XXXXXX";
    folder_ = std::filesystem::canonical(mkdtemp(name.data()));
    setenv("TMPDIR", (folder_ / "tmp").c_str(), /*overwrite=*/1);
  }
  ~RemoteShellTest() override { std::filesystem::remove_all(folder_); }

  // Runs a command as sshd does, with `shell` as the user's login shell. What
  // it writes is then in output_.
  int Run(const std::string& shell, const std::string& command,
          const std::string& input = "") {
    const base::FileDescriptor stdin_of_command(memfd_create("", MFD_CLOEXEC));
    EXPECT_EQ(pwrite(stdin_of_command.get(), input.data(), input.size(), 0),
              static_cast<ssize_t>(input.size()));
    base::FileDescriptor reader;
    auto child = base::ChildProcess::Start(
        {.path = shell,
         .arguments = {shell, "-c", "exec <&3 3<&-; " + command},
         .inherited = stdin_of_command.get()},
        &reader);
    EXPECT_TRUE(child.ok()) << child.status();
    output_.clear();
    char bytes[4096];
    for (ssize_t count; (count = read(reader.get(), bytes, 4096)) > 0;) {
      output_.append(bytes, count);
    }
    EXPECT_TRUE(child->HasEnded(base::kGenerous));
    return WEXITSTATUS(child->Finish());
  }

  // A program that prints its arguments, each with a NUL behind it.
  std::string PrintingProgram() { return "#!/bin/sh\nprintf '%s\\0' \"$@\"\n"; }

  std::string Install(const std::string& program) {
    const std::filesystem::path path = folder_ / "program";
    std::ofstream(path) << program;
    chmod(path.c_str(), 0700);
    return path;
  }

  std::filesystem::path folder_;
  std::string output_;
};

std::string RandomWord(std::mt19937& random) {
  // What shells give a meaning to is more frequent than other bytes.
  static constexpr char kSpecial[] = "'\"\\!$`*?[]{}()<>|&;#~^ \t\n=-%\r";
  std::string word;
  for (int length = random() % 12; length > 0; --length) {
    word += random() % 3 == 0 ? static_cast<char>(1 + random() % 255)
                              : kSpecial[random() % (sizeof(kSpecial) - 1)];
  }
  return word;
}

TEST_F(RemoteShellTest, ShellsGetEveryWordExactly) {
  const std::string program = Install(PrintingProgram());
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> words;
    std::string expected;
    for (int i = 0; i < 40; ++i) {
      words.push_back(RandomWord(random));
      expected += words.back() + '\0';
    }
    for (const char* shell : {"/bin/sh", "/bin/bash"}) {
      ASSERT_EQ(Run(shell, QuoteForShell(program) + " " + QuoteWords(words)), 0)
          << output_;
      ASSERT_EQ(output_, expected) << QuoteWords(words);
    }
  }
}

TEST(QuoteForShellTest, LeavesOrdinaryWordsReadable) {
  EXPECT_EQ(QuoteForShell("--infile=/tmp/a.config"), "--infile=/tmp/a.config");
  EXPECT_EQ(QuoteForShell(""), "''");
  EXPECT_EQ(QuoteForShell("query p99<=5ms"), "query' p99<=5ms'");
  EXPECT_EQ(QuoteForShell("~"), "'~'");
  EXPECT_EQ(QuoteForShell("=x"), "'=x'");
}

TEST_F(RemoteShellTest, RunsAnInstalledProgramInItsFolder) {
  std::filesystem::create_directory(folder_ / "a folder");
  const std::string program = Install("#!/bin/sh\npwd; echo \"$1\"; exit 5\n");
  EXPECT_EQ(Run("/bin/sh",
                RemoteCommand({.path = program, .folder = folder_ / "a folder"},
                              {"it's"})),
            5);
  EXPECT_EQ(output_, (folder_ / "a folder").string() + "\nit's\n");
}

TEST_F(RemoteShellTest, ExitsWith127WithoutTheProgram) {
  EXPECT_EQ(Run("/bin/sh", RemoteCommand({.path = "no_such_program"}, {})),
            127);
}

TEST_F(RemoteShellTest, RunsACopyAndRemovesIt) {
  std::filesystem::create_directory(folder_ / "tmp");
  const std::string program = "#!/bin/sh\ncat; echo \"$0 $1\"; exit 4\n";
  EXPECT_EQ(
      Run("/bin/sh",
          RemoteCommand({.copied_bytes = static_cast<int64_t>(program.size())},
                        {"a b"}),
          program),
      4);
  EXPECT_THAT(output_,
              testing::MatchesRegex(".*/tmp/distbench\\..*/distbench a b\n"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
}

TEST_F(RemoteShellTest, ATruncatedCopyIsNotRun) {
  std::filesystem::create_directory(folder_ / "tmp");
  const std::string program = "#!/bin/sh\necho ran\n";
  EXPECT_EQ(Run("/bin/sh", RemoteCommand({.copied_bytes = 1000}, {}), program),
            1);
  EXPECT_EQ(output_, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
}

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
