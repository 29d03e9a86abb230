#include "distbench/products/numa_compare/local_cluster.h"

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
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"
#include "distbench/security/job_secret.h"
#include "distbench/security/tls_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa_compare {
namespace {

using ::testing::HasSubstr;

absl::Time Deadline() { return absl::Now() + absl::Seconds(60); }

std::unique_ptr<ServerProcess> Shell(const std::string& script) {
  auto child = ServerProcess::Start({"/bin/sh", "-c", script});
  EXPECT_TRUE(child.ok()) << child.status();
  return *std::move(child);
}

TEST(ServerProcessTest, FindsLinesOfItsOutput) {
  const auto child = Shell("echo first; echo second line >&2; sleep 600");
  EXPECT_EQ(*child->WaitForLine("second", Deadline()), "second line");
  EXPECT_EQ(*child->WaitForLine("first", Deadline()), "first");
}

TEST(ServerProcessTest, TellsWhatWasSaidInstead) {
  const auto child = Shell("echo oh no; exit 1");
  const absl::Status status = child->WaitForLine("ready", Deadline()).status();
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("its output: oh no"));
}

// A node may have much to warn of while a job runs.
TEST(ServerProcessTest, IsNotHeldUpByOutputThatNobodyWaitsFor) {
  const std::string fifo = testing::TempDir() + "/has_said_all";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const base::FileDescriptor has_said_all(
      open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto child = Shell(
      "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last;"
      "echo >" +
      fifo + "; sleep 600");
  pollfd event = {.fd = has_said_all.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&event, 1, 60'000), 1);
  EXPECT_EQ(*child->WaitForLine("last", Deadline()), "last");
  const absl::Status gone = child->WaitForLine("first", absl::Now()).status();
  EXPECT_LT(gone.message().size(), 200'000) << "all of it is kept";
  std::filesystem::remove(fifo);
}

TEST(ServerProcessTest, DoesNotWaitForEver) {
  const auto child = Shell("sleep 600");
  EXPECT_FALSE(
      child->WaitForLine("x", absl::Now() + absl::Milliseconds(20)).ok());
}

TEST(ServerProcessTest, IsGoneAfterwards) {
  int pid = 0;
  {
    const auto child = Shell("echo $$; exec sleep 600");
    ASSERT_TRUE(absl::SimpleAtoi(*child->WaitForLine("", Deadline()), &pid));
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ServerProcessTest, MissingProgramsSayNothing) {
  auto child = ServerProcess::Start({"/no/such/program"});
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE((*child)->WaitForLine("x", Deadline()).ok());
}

TEST(LocalClusterTest, IsForThisUserAlone) {
  std::string folder = testing::TempDir() + "/cluster.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string program = folder + "/distbench";
  std::ofstream(program) << "#!/bin/sh\n"
                         << "cd " << folder << "\n"
                         << "for flag; do echo \"$flag\"; done >$1\n"
                         << "echo Listening at 127.0.0.1:4711\n"
                         << "echo node0 registered with it\n"
                         << "exec sleep 600\n";
  ASSERT_EQ(chmod(program.c_str(), 0700), 0);
  const auto cluster = LocalCluster::Start(program, {{"--cpus=0"}});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ((*cluster)->address(), "127.0.0.1:4711");
  const security::TlsFiles& tls = (*cluster)->tls();
  EXPECT_EQ(security::CheckTlsFiles(tls, security::TlsRole::kNode),
            absl::OkStatus());
  EXPECT_EQ(security::CheckIssuedFor(tls.name, tls), absl::OkStatus());
  for (const char* command : {"test_sequencer", "node_manager"}) {
    const auto arguments = base::ReadFile(folder + "/" + command);
    ASSERT_TRUE(arguments.ok());
    for (const std::string& flag :
         {"--tls_ca=" + tls.ca, "--tls_cert=" + tls.cert,
          "--tls_key=" + tls.key}) {
      EXPECT_THAT(*arguments, HasSubstr(flag + "\n")) << command;
    }
  }
  // What is measured is what would be without the secret.
  EXPECT_THAT(*base::ReadFile(folder + "/node_manager"),
              HasSubstr("--plain_traffic\n--cpus=0\n"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace distbench::numa_compare
