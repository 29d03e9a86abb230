// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/ssh_launch.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/patience.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Runs the command in a shell of this host. Some hosts are not reached.
constexpr char kFakeSsh[] = R"(#!/bin/sh
echo "$@" >>"$HERE/ssh_arguments"
while [ "$1" != -- ]; do shift; done
export HOST="$2"
case $HOST in
  refused) echo "connect to host refused: Connection refused" >&2; exit 255;;
  noisy) echo "welcome to noisy";;
esac
exec sh -c "$3"
)";

// Does what `distbench launched` does, as far as `launch` sees it. Each host
// runs $HERE/HOST, if there is one, once it has the message.
constexpr char kFakeProgram[] = R"(#!/bin/bash
echo "distbench launch: ready"
while IFS= read -r line; do
  echo "$line" >>"$HERE/$HOST.message"
  [ "$line" = start ] && break
done
[ "$line" = start ] || exit 1
echo "$@" >"$HERE/$HOST.arguments"
case $3 in --rank=0) echo "distbench launch: port 4711";; esac
if [ -e "$HERE/$HOST" ]; then . "$HERE/$HOST"; fi
)";

class SshLaunchTest : public testing::Test {
 protected:
  SshLaunchTest() {
    std::string name = testing::TempDir() + "/ssh_launch.XXXXXX";
    folder_ = std::filesystem::canonical(mkdtemp(name.data()));
    setenv("HERE", folder_.c_str(), /*overwrite=*/1);
    WriteProgram("ssh", kFakeSsh);
    WriteProgram("distbench", kFakeProgram);
    launch_.ssh = folder_ / "ssh";
    launch_.program.path = folder_ / "distbench";
    SetHosts({"host0", "host1"});
  }
  ~SshLaunchTest() override { std::filesystem::remove_all(folder_); }

  void WriteProgram(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name) << contents;
    chmod((folder_ / name).c_str(), 0700);
  }

  // What a host runs.
  void HostRuns(const std::string& host, const std::string& script) {
    std::ofstream(folder_ / host) << script;
  }

  void SetHosts(const std::vector<std::string>& names) {
    launch_.hosts.clear();
    for (const std::string& name : names) {
      launch_.hosts.push_back({.user = "", .host = name});
    }
  }

  // Guaranteed elision: a launcher cannot be moved.
  SshLauncher Launcher() {
    return SshLauncher(
        launch_, {.out = [this](auto bytes) { absl::StrAppend(&out_, bytes); },
                  .err =
                      [this](auto bytes) {
                        absl::MutexLock lock(&mutex_);
                        absl::StrAppend(&err_, bytes);
                      }});
  }

  std::string Contents(const std::string& name) {
    return base::ReadFile(folder_ / name).value_or("");
  }

  bool WaitForError(const std::string& text) {
    absl::MutexLock lock(&mutex_);
    const auto is_there = [this, &text] {
      mutex_.AssertHeld();
      return absl::StrContains(err_, text);
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&is_there), base::kGenerous);
  }

  std::filesystem::path folder_;
  SshLaunch launch_;
  std::string out_;
  absl::Mutex mutex_;
  std::string err_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(SshLaunchTest, RunsAJob) {
  launch_.hosts[1] = {.user = "alice",
                      .host = "noisy",
                      .port = 2222,
                      .attributes = {"rack=a b"}};
  launch_.leader = {.user = "", .host = "leader.example"};
  launch_.secret = {
      .ca = "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n",
      .cert = "-----BEGIN CERTIFICATE-----\nc\n-----END CERTIFICATE-----\n",
      .key =
          "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n"};
  launch_.join_flags = {"--node_on_leader=false"};
  launch_.command = {"run_tests", "--infile=it's"};
  launch_.logs = folder_;
  HostRuns("host0", "echo result; echo progress >&2; exit 2");
  HostRuns("noisy", "echo from noisy; exit 0");

  const auto end = Launcher().Run();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->status, 2);
  EXPECT_THAT(end->problems, IsEmpty());
  EXPECT_EQ(out_, "result\n");
  EXPECT_TRUE(WaitForError("progress\n"));
  EXPECT_EQ(Contents("host0.arguments"),
            "launched -- --rank=0 --size=2 --node_on_leader=false -- run_tests "
            "--infile=it's\n");
  EXPECT_EQ(Contents("noisy.arguments"),
            "launched -- --rank=1 --size=2 --node_on_leader=false rack=a b\n");
  EXPECT_THAT(
      Contents("noisy.message"),
      AllOf(HasSubstr("leader leader.example:4711\n"), HasSubstr("secret\n")));
  EXPECT_THAT(Contents("host0.message"), Not(HasSubstr("leader ")));
  EXPECT_THAT(Contents("noisy:2222.log"),
              AllOf(HasSubstr("welcome to noisy\n"), HasSubstr("from noisy")));
  EXPECT_THAT(Contents("ssh_arguments"),
              AllOf(HasSubstr("-l alice -p 2222 -- noisy "),
                    HasSubstr("-o BatchMode=yes"), Not(HasSubstr("secret\n"))));
}

TEST_F(SshLaunchTest, NamesEveryBadHostAndStartsNothing) {
  SetHosts({"host0", "refused", "host2"});
  launch_.program.path = folder_ / "nothing_there";
  const auto end = Launcher().Run();
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(base::Message(end.status()),
              AllOf(HasSubstr("because of 3 of 3 hosts"),
                    HasSubstr("host0: there is no program"),
                    HasSubstr("refused: no ssh server listens there"),
                    HasSubstr("host2: there is no program")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "host0.arguments"));
}

TEST_F(SshLaunchTest, OneBadHostIsEnough) {
  SetHosts({"host0", "refused"});
  const auto end = Launcher().Run();
  EXPECT_THAT(base::Message(end.status()),
              HasSubstr("because of 1 of 2 hosts"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "host0.arguments"));
}

TEST_F(SshLaunchTest, NamesAHostThatIsNotReadyInTime) {
  WriteProgram("distbench", "#!/bin/sh\nexec sleep 100\n");
  launch_.start_timeout = absl::Milliseconds(300);
  EXPECT_THAT(base::Message(Launcher().Run().status()),
              HasSubstr("host1: was not ready within 300ms"));
}

TEST_F(SshLaunchTest, ALeaderThatDoesNotLeadEndsTheJob) {
  WriteProgram("distbench",
               "#!/bin/sh\necho 'distbench launch: ready'\n"
               "echo disk full >&2; cat >/dev/null; exit 3\n");
  launch_.start_timeout = absl::Seconds(5);
  const auto end = Launcher().Run();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->status, 3);
  EXPECT_THAT(
      end->problems,
      ElementsAre(AllOf(HasSubstr("host0 (rank 0) did not lead the job "
                                  "within 5s"),
                        HasSubstr("--start_timeout"), HasSubstr("disk full"))));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "host1.arguments"));
}

TEST_F(SshLaunchTest, ARankThatEndsEarlyEndsTheJob) {
  HostRuns("host0", "cat >/dev/null; echo told to end; exit 0");
  HostRuns("host1", "echo no luck >&2; exit 1");
  const auto end = Launcher().Run();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->status, 0);
  EXPECT_THAT(end->problems,
              ElementsAre(AllOf(HasSubstr("host1 (rank 1) ended before"),
                                HasSubstr("status 1"), HasSubstr("no luck"))));
  EXPECT_EQ(out_, "told to end\n");
}

TEST_F(SshLaunchTest, ALostLeaderEndsTheOthers) {
  HostRuns("host0", "exit 255");
  HostRuns("host1", "cat >/dev/null; touch \"$HERE/host1.ended\"");
  const auto end = Launcher().Run();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->status, -1);
  EXPECT_THAT(end->problems,
              ElementsAre(HasSubstr("session to host0 (rank 0) was lost")));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "host1.ended"));
}

TEST_F(SshLaunchTest, AStopEndsTheJobInOrder) {
  HostRuns("host0", "echo running >&2; cat >/dev/null; echo kept; exit 3");
  HostRuns("host1", "cat >/dev/null");
  SshLauncher launcher = Launcher();
  std::thread stopper([this, &launcher] {
    EXPECT_TRUE(WaitForError("running\n"));
    launcher.Stop();
  });
  const auto end = launcher.Run();
  stopper.join();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->status, 3);
  EXPECT_THAT(end->problems, IsEmpty());
  EXPECT_EQ(out_, "kept\n");
}

TEST_F(SshLaunchTest, CopiesTheProgram) {
  launch_.copy = absl::Cord(kFakeProgram);
  launch_.program.folder = folder_;
  HostRuns("host0", "dirname \"$0\"");
  const auto end = Launcher().Run();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->status, 0);
  EXPECT_THAT(out_, HasSubstr(folder_.string() + "/distbench."));
  out_.pop_back();
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(SshLaunchTest, RefusesALeaderThatOthersCannotReach) {
  SetHosts({"localhost", "host1"});
  EXPECT_THAT(base::Message(Launcher().Run().status()),
              HasSubstr("host1 cannot reach the first host as localhost"));
}

}  // namespace
}  // namespace distbench::launching
