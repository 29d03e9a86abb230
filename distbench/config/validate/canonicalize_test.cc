#include "distbench/config/validate/canonicalize.h"

#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::google::protobuf::util::MessageDifferencer;

struct Case {
  const char* name;
  const char* before;
  const char* after;
};

class Canonical : public ::testing::TestWithParam<Case> {};

TEST_P(Canonical, IsReachedInOneStep) {
  TestSequence sequence = FromText<TestSequence>(GetParam().before);
  const TestSequence expected = FromText<TestSequence>(GetParam().after);
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
        Case{"EmptyMeansDefault",
             "tests { default_protocol: ''"
             "  rpc_descriptions { fanout_filter: '' }"
             "  actions { iterations { open_loop_interval_distribution: '' } }"
             "  actions { } }",
             "tests { rpc_descriptions {}  actions { iterations {} } "
             "  actions {} }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace distbench
