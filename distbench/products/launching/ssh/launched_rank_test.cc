// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/launched_rank.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/testing/patience.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/launching/ssh/start_message.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const security::TlsContents kSecret = {
    .ca = "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n",
    .cert = "-----BEGIN CERTIFICATE-----\ncert\n-----END CERTIFICATE-----\n",
    .key = "-----BEGIN PRIVATE KEY-----\nkey\n-----END PRIVATE KEY-----\n"};

// Runs a rank whose `distbench` is a script, on a thread of its own.
class LaunchedRankTest : public testing::Test {
 protected:
  LaunchedRankTest() : stop_(/*exit_code=*/3) {
    std::string name = testing::TempDir() + "/launched_rank.XXXXXX";
    folder_ = std::filesystem::canonical(mkdtemp(name.data()));
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    input_ = base::FileDescriptor(ends[0]);
    to_rank_ = base::FileDescriptor(ends[1]);
  }

  ~LaunchedRankTest() override { std::filesystem::remove_all(folder_); }

  // `script` sees its folder as $HERE.
  absl::StatusOr<int> Run(const std::string& script) {
    const std::string program = folder_ / "distbench";
    std::ofstream(program) << "#!/bin/bash\nHERE=" << folder_.string() << "\n"
                           << script;
    chmod(program.c_str(), 0700);
    return RunLaunchedRank(
        {.program = program, .join_arguments = {"--rank=1", "--", "x y"}},
        input_.get(), stop_, [this](absl::string_view line) {
          absl::MutexLock lock(&mutex_);
          lines_.emplace_back(line);
        });
  }

  void Send(const StartMessage& message) {
    const std::string text = EncodeStartMessage(message);
    ASSERT_EQ(write(to_rank_.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  bool WaitFor(const std::string& line) {
    absl::MutexLock lock(&mutex_);
    const auto is_there = [this, &line] {
      mutex_.AssertHeld();
      return !lines_.empty() && lines_.back() == line;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&is_there), base::kGenerous);
  }

  std::string Contents(const std::string& name) {
    return base::ReadFile(folder_ / name).value_or("");
  }

  base::StopSignals stop_;  // first: before the tests' threads
  std::filesystem::path folder_;
  base::FileDescriptor input_;
  base::FileDescriptor to_rank_;
  absl::Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(LaunchedRankTest, JoinsWithTheLeaderAndTheSecret) {
  Send({.leader = "host1:4711", .secret = kSecret});
  const auto status = Run(R"(
    echo "$@" >$HERE/arguments
    secret=${2#--secret=}
    stat -L -c %a "$secret" "$secret"/tls.key >$HERE/modes
    cat "$secret"/{ca.crt,tls.crt,tls.key} >$HERE/secret
    find "$secret" -type f >$HERE/files
    cat >$HERE/stdin
    exit 7)");
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(WEXITSTATUS(*status), 7);
  const std::string arguments = Contents("arguments");
  EXPECT_THAT(arguments, MatchesRegex("join --secret=[^ ]+ "
                                      "--leader=host1:4711 --rank=1 -- x y\n"));
  EXPECT_EQ(Contents("modes"), "700\n600\n");
  EXPECT_EQ(Contents("secret"), kSecret.ca + kSecret.cert + kSecret.key);
  EXPECT_EQ(Contents("files"), "") << "of which a killed process leaves some";
  EXPECT_EQ(Contents("stdin"), "");
  const size_t begin = arguments.find('=') + 1;
  EXPECT_FALSE(std::filesystem::exists(
      arguments.substr(begin, arguments.find(' ', begin) - begin)));
  absl::MutexLock lock(&mutex_);
  EXPECT_THAT(lines_, ElementsAre(std::string(kReadyLine)));
}

TEST_F(LaunchedRankTest, TheLeaderTellsItsPort) {
  Send({});
  std::thread ender([this] {
    EXPECT_TRUE(WaitFor(PortLine(4712)));
    to_rank_.Close();
  });
  const auto status = Run(R"(
    echo "$@" >$HERE/arguments
    echo "[fe80::1]:4712" >${3#--rendezvous=}/leader
    sleep 100 & trap 'kill $!; exit 0' TERM; wait)");
  ender.join();
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_THAT(
      Contents("arguments"),
      MatchesRegex("join --plain --rendezvous=[^ ]+ --rank=1 -- x y\n"));
}

TEST_F(LaunchedRankTest, TheEndOfInputIsASignalForJoin) {
  Send({.leader = "host1:4711"});
  to_rank_.Close();
  const auto status = Run(R"(
    sleep 100 & trap 'kill $!; exit 5' TERM; wait)");
  ASSERT_TRUE(status.ok()) << status.status();
  // Without its trap, if the signal came first.
  EXPECT_TRUE(WIFSIGNALED(*status) || WEXITSTATUS(*status) == 5);
}

TEST_F(LaunchedRankTest, NothingRunsWithoutTheMessage) {
  to_rank_.Close();
  const auto status = Run("touch $HERE/ran");
  EXPECT_EQ(status.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::Message(status.status()), HasSubstr("launch has ended"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(PrivateFolderTest, IsTheOwnersAloneAndGoesWithItsContents) {
  std::string path;
  const mode_t old_mask = umask(0);
  {
    auto made = PrivateFolder::Make();
    ASSERT_TRUE(made.ok()) << made.status();
    const PrivateFolder folder = *std::move(made);
    path = folder.path();
    EXPECT_EQ(ModeOf(path), 0700);
    std::ofstream(path + "/key") << "secret";
  }
  umask(old_mask);
  EXPECT_FALSE(std::filesystem::exists(path));
}

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader = base::FileDescriptor(ends[0]);
    writer = base::FileDescriptor(ends[1]);
  }
  base::FileDescriptor reader;
  base::FileDescriptor writer;
};

TEST(InputWatchTest, CallsAtTheEndOnly) {
  Pipe pipe;
  absl::Notification ended;
  std::atomic<bool> is_open = true;
  const InputWatch watch(pipe.reader.get(), [&] {
    EXPECT_FALSE(is_open);
    ended.Notify();
  });
  EXPECT_EQ(write(pipe.writer.get(), "ignored", 7), 7);
  is_open = false;
  pipe.writer.Close();
  EXPECT_TRUE(ended.WaitForNotificationWithTimeout(base::kGenerous));
}

TEST(InputWatchTest, EndsBeforeTheInput) {
  Pipe pipe;
  {
    const InputWatch watch(pipe.reader.get(), [] { FAIL(); });
  }
  pipe.writer.Close();
}

}  // namespace
}  // namespace distbench::launching
