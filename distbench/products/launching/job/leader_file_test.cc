#include "distbench/products/launching/job/leader_file.h"

#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/base/testing/without_privileges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

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
