// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/leader_location.h"

#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/base/testing/without_privileges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

// "host:port", "file (port)", or the error.
std::string Leader(const LeaderFlags& flags, const Variables& variables) {
  const auto found = FindLeader(flags, LauncherEnvironment(variables));
  if (!found.ok()) return base::Message(found.status());
  if (!found->file.empty()) return absl::StrCat(found->file, " ", found->port);
  return absl::StrCat(found->host, ":", found->port);
}

const Variables kSlurm = {{"SLURM_STEP_NODELIST", "n[08-10],m1"},
                          {"SLURM_JOB_ID", "1234"},
                          {"SLURM_STEP_ID", "0"}};

TEST(LeaderLocationTest, FlagsNameTheLeader) {
  EXPECT_EQ(Leader({.leader = "a:1234"}, {}), "a:1234");
  EXPECT_EQ(Leader({.leader = "a"}, {}), "a:10000");
  EXPECT_EQ(Leader({.leader = "a", .port = 7}, {}), "a:7");
  EXPECT_EQ(Leader({.leader = "a:7", .port = 7}, {}), "a:7");
  EXPECT_EQ(Leader({.leader = "[::1]:7"}, {}), "::1:7");
  EXPECT_EQ(Leader({.leader = "[::1]"}, {}), "::1:10000");
  EXPECT_EQ(Leader({.leader = "fe80::2"}, {}), "fe80::2:10000");
  EXPECT_EQ(Leader({.rendezvous = "/shared"}, {}), "/shared/leader 0");
  EXPECT_EQ(Leader({.rendezvous = "/shared", .port = 7}, {}),
            "/shared/leader 7");
}

TEST(LeaderLocationTest, FlagsComeBeforeVariablesBeforeSlurm) {
  Variables all = kSlurm;
  all["DISTBENCH_LEADER"] = "b:2";
  all["DISTBENCH_RENDEZVOUS"] = "/other";
  EXPECT_EQ(Leader({.leader = "a:1"}, all), "a:1");
  EXPECT_EQ(Leader({.rendezvous = "/shared"}, all), "/shared/leader 0");
  EXPECT_EQ(Leader({}, all), "b:2");
  all["DISTBENCH_LEADER"] = "";
  EXPECT_EQ(Leader({}, all), "/other/leader 0");
  all.erase("DISTBENCH_RENDEZVOUS");
  EXPECT_THAT(Leader({}, all), HasSubstr("n08:"));
}

TEST(LeaderLocationTest, RequeuedJobsHaveFilesOfTheirOwn) {
  EXPECT_EQ(Leader({.rendezvous = "/d"}, {{"SLURM_RESTART_COUNT", "0"}}),
            "/d/leader 0");
  EXPECT_EQ(Leader({.rendezvous = "/d"}, {{"SLURM_RESTART_COUNT", "2"}}),
            "/d/leader.2 0");
}

TEST(LeaderLocationTest, PortsOfSlurmJobsDiffer) {
  std::set<std::string> leaders;
  for (int job = 1'000'000; job < 1'000'100; ++job) {
    for (const char* step : {"0", "1", "2"}) {
      Variables variables = kSlurm;
      variables["SLURM_JOB_ID"] = absl::StrCat(job);
      variables["SLURM_STEP_ID"] = step;
      leaders.insert(Leader({}, variables));
      // All ranks must find the same.
      EXPECT_EQ(leaders.count(Leader({}, variables)), 1);
    }
  }
  EXPECT_EQ(leaders.size(), 300);
  EXPECT_EQ(Leader({.port = 4711}, kSlurm), "n08:4711");
}

TEST(LeaderLocationTest, RefusesContradictions) {
  EXPECT_THAT(Leader({.leader = "a", .rendezvous = "/d"}, {}),
              HasSubstr("--leader and --rendezvous"));
  EXPECT_THAT(Leader({.leader = "a:1", .port = 2}, {}),
              AllOf(HasSubstr("--leader=a:1"), HasSubstr("--port=2")));
  EXPECT_THAT(Leader({.port = 2}, {{"DISTBENCH_LEADER", "a:1"}}),
              HasSubstr("DISTBENCH_LEADER=a:1 contradicts --port=2"));
  EXPECT_THAT(Leader({.leader = "a", .port = 0}, {}),
              HasSubstr("a port that nobody knows"));
  EXPECT_THAT(Leader({.port = 0}, kSlurm),
              HasSubstr("a port that nobody knows"));
}

TEST(LeaderLocationTest, RefusesWhatIsNoAddress) {
  for (const char* wrong : {":1", "a:", "a:x", "a:0", "a:65536", "a b:1",
                            "http://a:1", "a:-1", "[]:1"}) {
    EXPECT_THAT(Leader({.leader = wrong}, {}),
                HasSubstr("is not HOST or HOST:PORT"))
        << wrong;
  }
}

TEST(LeaderLocationTest, SaysWhatIsMissing) {
  EXPECT_THAT(Leader({}, {}),
              AllOf(HasSubstr("--leader=HOST"), HasSubstr("--rendezvous=DIR")));
  Variables variables = kSlurm;
  variables.erase("SLURM_JOB_ID");
  EXPECT_THAT(Leader({}, variables), HasSubstr("--port=PORT"));
  variables["SLURM_STEP_NODELIST"] = "n[1";
  EXPECT_THAT(Leader({}, variables),
              AllOf(HasSubstr("SLURM_STEP_NODELIST"), HasSubstr("\"n[1\"")));
}

namespace fs = std::filesystem;

class LeaderFileTest : public testing::Test {
 protected:
  LeaderFileTest() {
    std::string folder = testing::TempDir() + "/rendezvous.XXXXXX";
    folder_ = mkdtemp(folder.data());
    path_ = folder_ + "/leader";
  }
  ~LeaderFileTest() override { fs::remove_all(folder_); }

  void Write(const std::string& text) const { std::ofstream(path_) << text; }

  std::string folder_;
  std::string path_;
};

TEST_F(LeaderFileTest, OthersReadWhatWasAnnounced) {
  LeaderFile leader(path_);
  ASSERT_EQ(leader.Clear(), absl::OkStatus());
  const absl::Status early = ReadLeaderFile(path_).status();
  EXPECT_TRUE(absl::IsNotFound(early));
  EXPECT_THAT(base::Message(early),
              AllOf(HasSubstr("rank 0 has not written its"), HasSubstr(path_)));
  ASSERT_EQ(leader.Announce("host1:1234"), absl::OkStatus());
  EXPECT_EQ(*ReadLeaderFile(path_), "host1:1234");
  EXPECT_EQ(leader.Check(), absl::OkStatus());
}

TEST_F(LeaderFileTest, NothingIsLeftBehind) {
  {
    LeaderFile leader(path_);
    ASSERT_EQ(leader.Announce("host1:1234"), absl::OkStatus());
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(LeaderFileTest, WhatAnEarlierLeaderLeftIsRemoved) {
  Write("gone:1\n");
  LeaderFile leader(path_);
  ASSERT_EQ(leader.Clear(), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(ReadLeaderFile(path_).status()));
}

TEST_F(LeaderFileTest, SecondLeaderIsNoticedAndKeepsItsFile) {
  {
    LeaderFile first(path_);
    ASSERT_EQ(first.Announce("host1:1"), absl::OkStatus());
    Write("host2:2\n");
    EXPECT_TRUE(absl::IsAlreadyExists(first.Check()));
    EXPECT_THAT(base::Message(first.Check()),
                AllOf(HasSubstr("host2:2"), HasSubstr("another rank 0")));
  }
  EXPECT_EQ(*ReadLeaderFile(path_), "host2:2");
}

TEST_F(LeaderFileTest, ReadersNeverSeeAPart) {
  LeaderFile leader(path_);
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    while (!is_over) {
      const auto address = ReadLeaderFile(path_);
      if (!address.ok()) {
        EXPECT_TRUE(absl::IsNotFound(address.status())) << address.status();
      } else {
        EXPECT_THAT(*address, testing::MatchesRegex("host1:10..."));
      }
    }
  });
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(leader.Announce(absl::StrCat("host1:", 10'000 + i)),
              absl::OkStatus());
  }
  is_over = true;
  reader.join();
}

TEST_F(LeaderFileTest, OtherContentsAreRefused) {
  for (const char* wrong : {"", "\n", "host1", ":1", "host1:0", "host1:x"}) {
    Write(wrong);
    EXPECT_THAT(base::Message(ReadLeaderFile(path_).status()),
                HasSubstr("does not begin with HOST:PORT"))
        << wrong;
  }
  Write(std::string(100'000, 'x'));
  EXPECT_FALSE(ReadLeaderFile(path_).ok());
}

TEST_F(LeaderFileTest, SaysThatTheDirectoryCannotBeUsed) {
  LeaderFile missing(folder_ + "/missing/leader");
  EXPECT_THAT(base::Message(missing.Clear()),
              AllOf(HasSubstr("--rendezvous=" + folder_ + "/missing"),
                    HasSubstr("No such file"), HasSubstr("mkdir")));
  ASSERT_EQ(chmod(folder_.c_str(), 0500), 0);
  base::WithoutPrivileges([this] {
    EXPECT_THAT(base::Message(LeaderFile(path_).Clear()),
                HasSubstr("Permission denied"));
  });
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
}

}  // namespace
}  // namespace distbench::launching
