#include "distbench/products/bench/kinds/values.h"

#include "distbench/products/bench/kinds/io_cost_outcome.h"
#include "distbench/products/bench/kinds/storage_sizes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

TEST(ValuesTest, ValuesAreWrittenWithTheirUnits) {
  BenchValues values;
  AddNumber("rate", 1029, values);
  AddNumber("size", 1 << 20, values, "bytes");
  AddNumber("limit", 0.075, values, "s");
  AddText("device", "259:0", values);
  AddText("verdict", "not met", values);
  EXPECT_EQ(ValuesText(values),
            "rate=1029 size=1.0M limit=0.075s device=259:0 "
            "verdict=\"not met\"");
}

TEST(ValuesTest, TheNearestDoneJobCounts) {
  BenchJob failed;
  failed.set_kind("search");
  failed.set_state(BenchJob::FAILED);
  BenchJob other;
  other.set_kind("run");
  other.set_state(BenchJob::DONE);
  BenchJob near;
  near.set_kind("search");
  near.set_state(BenchJob::DONE);
  BenchJob far = near;
  const std::vector<const BenchJob*> earlier = {&failed, &other, &near, &far};
  EXPECT_EQ(NearestOf("search", earlier), &near);
  EXPECT_EQ(NearestOf("numa", earlier), nullptr);
}

TEST(ValuesTest, IoCostSurvives) {
  IoCostSettings settings;
  settings.set_device("259:0");
  settings.mutable_model()->set_rbps(1348822120);
  settings.mutable_model()->set_wrandiops(69308);
  settings.mutable_qos()->set_wlat(65667);
  settings.mutable_qos()->set_min(62.55);
  BenchValues values;
  AddIoCost(settings, values);
  const IoCostSettings read = IoCostFrom(values);
  EXPECT_EQ(read.device(), "259:0");
  EXPECT_TRUE(read.enable());
  EXPECT_EQ(read.model().rbps(), 1348822120);
  EXPECT_EQ(read.model().wrandiops(), 69308);
  EXPECT_EQ(read.qos().wlat(), 65667);
  EXPECT_EQ(read.qos().min(), 62.55);
}

TEST(ValuesTest, WhatWasNotFoundStaysAbsent) {
  StorageSizes sizes;
  sizes.hash_bytes = 4096;
  BenchValues values;
  AddStorageSizes(sizes, values);
  const StorageSizes read = StorageSizesFrom(values);
  EXPECT_EQ(read.hash_bytes, 4096);
  EXPECT_FALSE(read.max_rate.has_value());
  EXPECT_FALSE(read.is_complete());
}

}  // namespace
}  // namespace distbench::bench
