// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/hostlist.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Hosts(absl::string_view list) {
  const auto hosts = ParseHostlist(list);
  EXPECT_EQ(hosts.status(), absl::OkStatus());
  return hosts.value_or(std::vector<std::string>());
}

std::string Error(absl::string_view list) {
  return Message(ParseHostlist(list).status());
}

TEST(HostlistTest, ExpandsNamesAndRanges) {
  EXPECT_THAT(Hosts("m01"), ElementsAre("m01"));
  EXPECT_THAT(Hosts("n[1-3,7],m01"),
              ElementsAre("n1", "n2", "n3", "n7", "m01"));
  EXPECT_THAT(Hosts("n[5]-ib"), ElementsAre("n5-ib"));
}

TEST(HostlistTest, KeepsTheWidthOfTheFirstNumber) {
  EXPECT_THAT(Hosts("n[08-11]"), ElementsAre("n08", "n09", "n10", "n11"));
  EXPECT_THAT(Hosts("n[9-11]"), ElementsAre("n9", "n10", "n11"));
  EXPECT_THAT(Hosts("n[098-101]"), ElementsAre("n098", "n099", "n100", "n101"));
}

TEST(HostlistTest, CombinesBrackets) {
  EXPECT_THAT(Hosts("r[1-2]n[08-09]x"),
              ElementsAre("r1n08x", "r1n09x", "r2n08x", "r2n09x"));
}

TEST(HostlistTest, SaysWhatIsWrong) {
  EXPECT_THAT(Error(""), HasSubstr("empty name"));
  EXPECT_THAT(Error("a,,b"), HasSubstr("empty name"));
  EXPECT_THAT(Error("n[1-3"),
              AllOf(HasSubstr("\"n[1-3\""), HasSubstr("\"[\" has no \"]\"")));
  EXPECT_THAT(Error("n1-3]"), HasSubstr("\"]\" has no \"[\""));
  EXPECT_THAT(Error("n[3-1]"), HasSubstr("3-1 runs backwards"));
  EXPECT_THAT(Error("n[]"), HasSubstr("not a number"));
  EXPECT_THAT(Error("n[1,]"), HasSubstr("not a number"));
  EXPECT_THAT(Error("n[a-b]"), HasSubstr("\"a-b\""));
  EXPECT_THAT(Error("n[1-2-3]"), HasSubstr("not a number"));
  EXPECT_THAT(Error("n[+1]"), HasSubstr("not a number"));
}

TEST(HostlistTest, RefusesListsThatNobodyHas) {
  EXPECT_THAT(Error("n[0-999999999]"), HasSubstr("more than 1000000 hosts"));
  EXPECT_THAT(Error("n[0-9999]x[0-9999]"), HasSubstr("more than"));
  EXPECT_THAT(Error("n[0-99999999999999999999]"), HasSubstr("not a number"));
  EXPECT_EQ(Hosts("n[1-1000000]").size(), kMaxHostsInList);
  EXPECT_THAT(Error("n[1-1000000],m"), HasSubstr("more than"));
}

// What Slurm would write for these hosts, element by element.
class RandomLists {
 public:
  explicit RandomLists(int seed) : random_(seed) {}

  // Returns a list and appends its hosts.
  std::string Draw(std::vector<std::string>& hosts) {
    std::vector<std::string> elements;
    for (int left = Draw(1, 4); left > 0; --left) {
      elements.push_back(DrawElement(hosts));
    }
    return absl::StrJoin(elements, ",");
  }

 private:
  int Draw(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }

  std::string DrawElement(std::vector<std::string>& hosts) {
    const std::string prefix = absl::StrCat("rack", Draw(0, 9), "-");
    const std::string suffix = Draw(0, 1) == 0 ? "" : "-ib0.local";
    if (Draw(0, 2) == 0) {
      hosts.push_back(prefix + suffix);
      return prefix + suffix;
    }
    const int width = Draw(1, 4);
    std::vector<std::string> ranges;
    for (int left = Draw(1, 3); left > 0; --left) {
      const int first = Draw(0, 2000);
      const int last = first + Draw(0, 20);
      for (int i = first; i <= last; ++i) {
        hosts.push_back(absl::StrFormat("%s%0*d%s", prefix, width, i, suffix));
      }
      const std::string begin = absl::StrFormat("%0*d", width, first);
      ranges.push_back(first == last ? begin : absl::StrCat(begin, "-", last));
    }
    return absl::StrCat(prefix, "[", absl::StrJoin(ranges, ","), "]", suffix);
  }

  std::mt19937 random_;
};

TEST(HostlistTest, ReturnsTheHostsThatWereWritten) {
  RandomLists lists(/*seed=*/1);
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::string> hosts;
    const std::string list = lists.Draw(hosts);
    // The first number's width decides, also where it is larger than asked for.
    EXPECT_EQ(Hosts(list), hosts) << list;
  }
}

TEST(HostlistTest, AnyTextGivesHostsOrAnError) {
  std::mt19937 random(/*seed=*/2);
  constexpr absl::string_view kLetters = "n[]-,0179a.";
  for (int i = 0; i < 100'000; ++i) {
    std::string text(random() % 12, ' ');
    for (char& letter : text) letter = kLetters[random() % kLetters.size()];
    const auto hosts = ParseHostlist(text);
    if (!hosts.ok()) {
      EXPECT_THAT(Message(hosts.status()), HasSubstr(text));
      continue;
    }
    ASSERT_FALSE(hosts->empty()) << text;
    for (const std::string& host : *hosts) {
      EXPECT_EQ(host.find_first_of("[],"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace distbench::base
