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
        Case{"QuantitiesBecomeNumbers",
             "tests {"
             "  payload_descriptions { size_with_unit: '256KiB' }"
             "  payload_descriptions { size_with_unit: '0B' }"
             "  rpc_descriptions { deadline: '50ms' }"
             "  actions { iterations {"
             "    rate: '200/s' max_duration: '4s' warmup: '1.5us' } }"
             "  search {"
             "    warmup: '1s' probe_duration: '5s' final_duration: '1m' } }",
             "tests {"
             "  payload_descriptions { size: 262144 }"
             "  payload_descriptions { size: 0 }"
             "  rpc_descriptions { deadline_us: 50000 }"
             "  actions { iterations {"
             "    open_loop_interval_ns: 5000000 max_duration_us: 4000000"
             "    warmup_ns: 1500 } }"
             "  search {"
             "    warmup_us: 1000000 probe_duration_us: 5000000"
             "    final_duration_us: 60000000 } }"},
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
}  // namespace distbench
