#include "distbench/protocol/registry/spare_cpu.h"

#include <cstdint>
#include <variant>

#include "gtest/gtest.h"

namespace distbench {
namespace {

int64_t SpinOf(const DriverOptions& options) {
  const auto found = options.client_settings.find("spin_us");
  return found == options.client_settings.end()
             ? -1
             : std::get<int64_t>(found->second);
}

DriverOptions ByCpus() {
  DriverOptions options;
  options.client_settings["spin_us"] = kSpinByCpus;
  options.server_settings["spin_us"] = kSpinByCpus;
  return options;
}

TEST(SpareCpuTest, WorkersSpinWhereThereAreCpusToSpare) {
  EXPECT_EQ(SpinOf(WithSpinning(ByCpus(), true)), kSpareCpuSpinUs);
  EXPECT_EQ(SpinOf(WithSpinning(ByCpus(), false)), -1) << "missing, which is 0";
  EXPECT_TRUE(WithSpinning(ByCpus(), true).server_settings.empty());
}

TEST(SpareCpuTest, WhatOneSideSaysCounts) {
  DriverOptions options = ByCpus();
  options.client_settings["spin_us"] = int64_t{7};
  EXPECT_EQ(SpinOf(WithSpinning(options, true)), 7);
  options = ByCpus();
  options.server_settings["spin_us"] = int64_t{0};
  EXPECT_EQ(SpinOf(WithSpinning(options, true)), -1);
}

TEST(SpareCpuTest, DriversWithoutTheSettingDoNotSpin) {
  EXPECT_EQ(SpinOf(WithSpinning({.driver = "loopback"}, true)), -1);
}

}  // namespace
}  // namespace distbench
