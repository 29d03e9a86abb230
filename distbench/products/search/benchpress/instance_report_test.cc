#include "distbench/products/search/benchpress/instance_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::HasSubstr;

// A search with two instances, and a probe that was ended early.
SearchReport TwoInstances() {
  SearchReport report;
  report.mutable_search()->set_knob("rate");
  report.set_verdict("converged");
  report.set_load(300);
  report.set_max_load(310);
  SearchProbe& probe = *report.add_probes();
  probe.set_phase("final");
  probe.set_requested_load(300);
  probe.set_achieved_load(298);
  probe.mutable_statistics()->set_succeeded_count(5);
  probe.add_instance_statistics()->set_succeeded_count(2);
  probe.add_instance_statistics()->set_succeeded_count(3);
  probe.add_instance_failures("instance 2: it was slow");
  report.add_probes()->set_requested_load(600);
  return report;
}

TEST(ReportOfInstanceTest, HasItsShareAndItsMeasurements) {
  const auto own = ReportOfInstance(TwoInstances(), 2);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->verdict(), "converged");
  EXPECT_EQ(own->load(), 150);
  EXPECT_EQ(own->max_load(), 155);
  EXPECT_FALSE(own->has_min_load());
  ASSERT_EQ(own->probes_size(), 1) << "without what was ended early";
  const SearchProbe& probe = own->probes(0);
  EXPECT_EQ(probe.requested_load(), 150);
  EXPECT_EQ(probe.achieved_load(), 149);
  EXPECT_EQ(probe.statistics().succeeded_count(), 3);
  EXPECT_EQ(probe.instance_statistics_size(), 0);
  EXPECT_EQ(probe.instance_failures_size(), 0);
}

TEST(ReportOfInstanceTest, OtherLoadsApplyToEachInstance) {
  SearchReport all = TwoInstances();
  all.mutable_search()->set_knob("concurrency");
  const auto own = ReportOfInstance(all, 1);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->load(), 300);
  EXPECT_EQ(own->probes(0).requested_load(), 300);
  EXPECT_EQ(own->probes(0).statistics().succeeded_count(), 2);
}

TEST(ReportOfInstanceTest, OneInstanceIsTheSearch) {
  SearchReport alone = TwoInstances();
  alone.mutable_probes(0)->clear_instance_statistics();
  const auto own = ReportOfInstance(alone, 1);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->load(), 300);
  EXPECT_EQ(own->probes_size(), 2);
}

TEST(ReportOfInstanceTest, SaysWhichThereAre) {
  for (const int instance : {0, 3}) {
    EXPECT_THAT(ReportOfInstance(TwoInstances(), instance).status().message(),
                HasSubstr("the search has the instances 1 to 2"));
  }
}

}  // namespace
}  // namespace distbench::search
