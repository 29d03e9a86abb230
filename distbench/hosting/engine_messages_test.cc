#include "distbench/hosting/engine_messages.h"

#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

TEST(EngineMessagesTest, TotalsArriveAsTheyAre) {
  const engine::EngineProgress arrived =
      FromEngineTotals(ToEngineTotals({.succeeded_count = 1,
                                       .failed_count = 2,
                                       .in_flight_count = 3,
                                       .offered_count = 4,
                                       .open_loop_ended_count = 5,
                                       .unsent_count = 6,
                                       .counted_ns = 7}));
  EXPECT_EQ(arrived.succeeded_count, 1);
  EXPECT_EQ(arrived.failed_count, 2);
  EXPECT_EQ(arrived.in_flight_count, 3);
  EXPECT_EQ(arrived.offered_count, 4);
  EXPECT_EQ(arrived.open_loop_ended_count, 5);
  EXPECT_EQ(arrived.unsent_count, 6);
  EXPECT_EQ(arrived.counted_ns, 7);
}

}  // namespace
}  // namespace distbench::hosting
