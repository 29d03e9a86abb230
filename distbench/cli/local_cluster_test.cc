// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/local_cluster.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/security/job_secret.h"
#include "distbench/security/tls_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::HasSubstr;

// A program in a folder of its own, which takes what it is started with for
// distbench's.
class LocalClusterTest : public testing::Test {
 protected:
  LocalClusterTest() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~LocalClusterTest() override { std::filesystem::remove_all(folder_); }

  std::string PathOf(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // Starts a sequencer and a node, both as the script says, whose folder is its
  // own.
  absl::StatusOr<std::unique_ptr<LocalCluster>> Start(
      const std::string& script,
      absl::Duration timeout = absl::Seconds(60)) const {
    const std::string program = PathOf("distbench");
    std::ofstream(program) << "#!/bin/sh\ncd " << folder_ << "\n" << script;
    EXPECT_EQ(chmod(program.c_str(), 0700), 0);
    return LocalCluster::Start(program, {{"--cpus=0"}}, timeout);
  }

 private:
  std::string folder_ = testing::TempDir() + "/cluster.XXXXXX";
};

constexpr char kReady[] =
    "echo Listening at 127.0.0.1:4711 >&2\n"
    "echo node0 registered with it\n";

TEST_F(LocalClusterTest, TellsWhatWasSaidInstead) {
  const absl::Status status = Start("echo oh no; exit 1").status();
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the sequencer did not say \"Listening at \"; its "
                        "output: oh no"));
}

TEST_F(LocalClusterTest, NamesTheNodeThatDoesNotRegister) {
  const absl::Status status =
      Start("echo Listening at x; [ $1 = node_manager ] || exec sleep 600")
          .status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("node0 did not say \" registered with \""));
}

TEST_F(LocalClusterTest, DoesNotWaitForEver) {
  EXPECT_FALSE(Start("exec sleep 600", absl::Milliseconds(20)).ok());
}

TEST_F(LocalClusterTest, MissingProgramsSaySo) {
  const absl::Status status =
      LocalCluster::Start("/no/such/program", {}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("/no/such/program"));
}

// A node may have much to warn of while a job runs.
TEST_F(LocalClusterTest, IsNotHeldUpByOutputThatNobodyReads) {
  ASSERT_EQ(mkfifo(PathOf("has_said_all").c_str(), 0600), 0);
  const base::FileDescriptor has_said_all(
      open(PathOf("has_said_all").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto cluster = Start(std::string(kReady) +
                             "[ $1 = node_manager ] || exec sleep 600\n"
                             // More than a pipe holds, by the shell itself.
                             "i=0; while [ $((i += 1)) -lt 20000 ]; do\n"
                             "  echo be warned\n"
                             "done\n"
                             "echo >has_said_all\n"
                             "exec sleep 600\n");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  pollfd event = {.fd = has_said_all.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&event, 1, 60'000), 1);
}

TEST_F(LocalClusterTest, IsGoneAfterwards) {
  {
    const auto cluster =
        Start(std::string("echo $$ >$1\n") + kReady + "exec sleep 600\n");
    ASSERT_TRUE(cluster.ok()) << cluster.status();
  }
  for (const char* command : {"test_sequencer", "node_manager"}) {
    int pid = 0;
    ASSERT_TRUE(absl::SimpleAtoi(*base::ReadFile(PathOf(command)), &pid));
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
  }
}

TEST_F(LocalClusterTest, IsForThisUserAlone) {
  const auto cluster =
      Start(std::string("for flag; do echo \"$flag\"; done >$1\n") + kReady +
            "exec sleep 600\n");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ((*cluster)->address(), "127.0.0.1:4711");
  const security::TlsFiles& tls = (*cluster)->tls();
  EXPECT_EQ(security::CheckTlsFiles(tls, security::TlsRole::kNode),
            absl::OkStatus());
  EXPECT_EQ(security::CheckIssuedFor(tls.name, tls), absl::OkStatus());
  for (const char* command : {"test_sequencer", "node_manager"}) {
    const auto arguments = base::ReadFile(PathOf(command));
    ASSERT_TRUE(arguments.ok());
    for (const std::string& flag :
         {"--tls_ca=" + tls.ca, "--tls_cert=" + tls.cert,
          "--tls_key=" + tls.key}) {
      EXPECT_THAT(*arguments, HasSubstr(flag + "\n")) << command;
    }
  }
  // What is measured is what would be without the secret.
  EXPECT_THAT(*base::ReadFile(PathOf("node_manager")),
              HasSubstr("--plain_traffic\n--cpus=0\n"));
}

}  // namespace
}  // namespace distbench::cli
