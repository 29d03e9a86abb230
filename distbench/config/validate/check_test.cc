// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/validate/check.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> TestConfigs() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(
           "distbench/config/testing/testdata")) {
    if (entry.path().extension() == ".config") paths.push_back(entry.path());
  }
  return paths;
}

TestSequence Load(const std::string& path) {
  auto sequence = LoadTestSequence(path);
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  return sequence.value_or(TestSequence());
}

TEST(TestConfigs, AreValid) {
  ASSERT_GT(TestConfigs().size(), 5);
  for (const std::string& path : TestConfigs()) {
    TestSequence sequence = Load(path);
    Canonicalize(sequence);
    EXPECT_THAT(Validate(sequence), IsEmpty()) << path << "\n"
                                               << ToStatus(Validate(sequence));
  }
}

TEST(TestConfigs, MayRun) {
  for (const std::string& path : TestConfigs()) {
    const auto checked = CheckTestSequence(Load(path));
    EXPECT_TRUE(checked.ok()) << path << "\n" << checked.status();
  }
}

TEST(TestConfigs, CompileOnceTheyAreChecked) {
  for (const std::string& path : TestConfigs()) {
    TestSequence sequence = Load(path);
    Canonicalize(sequence);
    for (const DistributedSystemDescription& test : sequence.tests()) {
      const Plan plan = Compile(test);
      EXPECT_EQ(plan.test_name, test.name());
      EXPECT_EQ(plan.services.size(), test.services_size());
    }
  }
}

TEST(CheckTestSequence, ReturnsTheCanonicalForm) {
  auto sequence = ParseTestSequence(
      "tests { services { name: 's' count: 2 } action_lists { name: 's' } }",
      "x");
  const auto checked = CheckTestSequence(*sequence);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->tests(0).services(0).x_size(), 2);
}

TEST(CheckTestSequence, ListsEveryProblemOfEveryTest) {
  auto sequence = ParseTestSequence(R"(
    tests {
      services { name: 's' }
      action_lists { name: 's' action_names: 'missing' }
    }
    tests {
      services { name: 's' count: 1 }
      action_lists { name: 's' }
      overload_limits { max_threads: 0 }
    })",
                                    "x");
  const auto checked = CheckTestSequence(*sequence);
  EXPECT_EQ(checked.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      checked.status().message(),
      "tests[0].services[\"s\"].count: is missing; give the number of "
      "instances\n"
      "tests[0].action_lists[\"s\"].action_names[0]: no action is named "
      "\"missing\"; there are none\n"
      "tests[1].overload_limits.max_threads: 0 is out of range; must be at "
      "least 1");
}

TEST(CheckTestSequence, RefusesTestsInWhichNothingRuns) {
  EXPECT_THAT(std::string(CheckTestSequence(TestSequence()).status().message()),
              HasSubstr("tests: there are none"));
  TestSequence sequence;
  sequence.add_tests();
  EXPECT_THAT(std::string(CheckTestSequence(sequence).status().message()),
              HasSubstr("tests[0].services: there are none"));
  ServiceSpec& service = *sequence.mutable_tests(0)->add_services();
  service.set_name("s");
  service.set_count(1);
  EXPECT_THAT(std::string(CheckTestSequence(sequence).status().message()),
              HasSubstr("tests[0].action_lists: none has a "
                        "service's name, so no traffic would start"));
}

struct Case {
  const char* name;
  const char* before;
  const char* after;
};

class Canonical : public ::testing::TestWithParam<Case> {};

TEST_P(Canonical, IsReachedInOneStep) {
  TestSequence sequence = base::FromText<TestSequence>(GetParam().before);
  const TestSequence expected = base::FromText<TestSequence>(GetParam().after);
  Canonicalize(sequence);
  EXPECT_TRUE(MessageDifferencer::Equals(sequence, expected))
      << sequence.DebugString();
  Canonicalize(sequence);
  EXPECT_TRUE(MessageDifferencer::Equals(sequence, expected));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Canonical,
    ::testing::Values(
        Case{"CountGivesXSize", "tests { services { count: 3 } }",
             "tests { services { count: 3 x_size: 3 } }"},
        Case{"SizesGiveCount",
             "tests { services { x_size: 2 y_size: 3 z_size: 4 } }",
             "tests { services { count: 24 x_size: 2 y_size: 3 z_size: 4 } }"},
        Case{"ContradictionStays", "tests { services { count: 5 x_size: 2 } }",
             "tests { services { count: 5 x_size: 2 } }"},
        Case{"BadCountStays", "tests { services { count: -1 } }",
             "tests { services { count: -1 } }"},
        Case{"NothingStaysNothing", "tests { services { name: 's' } }",
             "tests { services { name: 's' } }"},
        Case{"HugeProductStays",
             "tests { services { x_size: 2147483647 y_size: 2147483647 "
             "z_size: 2147483647 } }",
             "tests { services { x_size: 2147483647 y_size: 2147483647 "
             "z_size: 2147483647 } }"},
        Case{"QuantitiesBecomeNumbers",
             "tests {"
             "  payload_descriptions { size_with_unit: '256KiB' }"
             "  payload_descriptions { size_with_unit: '0B' }"
             "  rpc_descriptions { deadline: '50ms' }"
             "  actions { iterations {"
             "    rate: '200/s' max_duration: '4s' warmup: '1.5us' } } }",
             "tests {"
             "  payload_descriptions { size: 262144 }"
             "  payload_descriptions { size: 0 }"
             "  rpc_descriptions { deadline_us: 50000 }"
             "  actions { iterations {"
             "    open_loop_interval_ns: 5000000 max_duration_us: 4000000"
             "    warmup_ns: 1500 } } }"},
        Case{"RatesAreRoundedToNanoseconds",
             "tests { actions { iterations { rate: '300/s' } }"
             "  actions { iterations { rate: '6/min' } }"
             "  actions { iterations { rate: '600M/s' } }"
             "  actions { iterations { rate: '1000M/s' } } }",
             "tests { actions { iterations { open_loop_interval_ns: 3333333 } }"
             "  actions { iterations { open_loop_interval_ns: 10000000000 } }"
             "  actions { iterations { open_loop_interval_ns: 2 } }"
             "  actions { iterations { open_loop_interval_ns: 1 } } }"},
        Case{"BadQuantitiesStay",
             "tests { actions { iterations {"
             "  rate: '200' max_duration: '4s' max_duration_us: 1"
             "  warmup: '-1s' } } }",
             "tests { actions { iterations {"
             "  rate: '200' max_duration: '4s' max_duration_us: 1"
             "  warmup: '-1s' } } }"},
        Case{"EmptyMeansDefault",
             "tests { default_protocol: ''"
             "  rpc_descriptions { fanout_filter: '' }"
             "  actions { iterations { open_loop_interval_distribution: '' } }"
             "  actions { } }",
             "tests { rpc_descriptions {}  actions { iterations {} } "
             "  actions {} }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace distbench::config
