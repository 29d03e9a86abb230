// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/storage_sizing/storage_probe.h"

#include <map>
#include <string>
#include <utility>

#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::HasSubstr;

// A test with a storage service, whose activity has further settings.
DistributedSystemDescription StorageTest(const std::string& settings = "") {
  TestSequence sequence;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(tests {
             name: "storage"
             services { name: "client" count: 1 }
             services { name: "server" count: 1 }
             rpc_descriptions { name: "read" client: "client" server: "server" }
             activity_pools { name: "disk" size: 4 }
             action_lists { name: "client" action_names: "send" }
             action_lists { name: "read" action_names: "serve" }
             actions {
               name: "send"
               rpc_name: "read"
               iterations { rate: "100/s" max_duration: "1s" }
             }
             actions { name: "serve" activity_config_name: "storage" })pb" +
          std::string("activity_configs { name: 'storage' pool_name: 'disk' "
                      "activity_settings { name: 'activity_func' "
                      "string_value: 'Storage' }") +
          settings + "} }",
      &sequence));
  auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

std::string Set(const std::string& name, int64_t value) {
  return "activity_settings { name: '" + name +
         "' int64_value: " + std::to_string(value) + " } ";
}

std::map<std::string, std::string> SettingsOf(
    const DistributedSystemDescription& test) {
  std::map<std::string, std::string> settings;
  for (const NamedSetting& setting :
       test.activity_configs(0).activity_settings()) {
    settings[setting.name()] = setting.has_int64_value()
                                   ? std::to_string(setting.int64_value())
                                   : setting.string_value();
  }
  return settings;
}

SizingProbe WarmProbe() {
  return {.phase = SizingPhase::kFootprint,
          .work = {.hash_bytes = 100'000,
                   .chunk_pages = 5,
                   .footprint_bytes = 1'000'000},
          .rate = 250,
          .quantile = 0.95,
          .limit_seconds = 0.075,
          .request = {.phase = search::ProbePhase::kRefine, .load = 1'000'000}};
}

DistributedSystemDescription Sized(const DistributedSystemDescription& test,
                                   const SizingProbe& probe) {
  auto sized = SizedTest(test, probe, {});
  EXPECT_TRUE(sized.ok()) << sized.status();
  TestSequence sequence;
  *sequence.add_tests() = *sized;
  EXPECT_TRUE(config::CheckTestSequence(sequence).ok())
      << config::CheckTestSequence(sequence).status();
  return *std::move(sized);
}

TEST(SizedTestTest, HasTheWorkAndTheRate) {
  const DistributedSystemDescription sized = Sized(StorageTest(), WarmProbe());
  const auto settings = SettingsOf(sized);
  EXPECT_EQ(settings.at("hash_bytes"), "100000");
  EXPECT_EQ(settings.at("file_bytes"), "20480");
  EXPECT_EQ(settings.at("file_set_bytes"), "1000000");
  EXPECT_FALSE(settings.contains("memory_bytes"));
  EXPECT_FALSE(settings.contains("io"));
  const Iterations& iterations = sized.actions(0).iterations();
  EXPECT_EQ(iterations.open_loop_interval_ns(), 4'000'000);
  EXPECT_EQ(iterations.max_duration_us(), 15'000'000);
}

// All four iterations together have the memory's share.
TEST(SizedTestTest, DividesTheFootprint) {
  const auto settings = SettingsOf(Sized(
      StorageTest(Set("memory_percent", 40) + Set("memory_bytes", 1 << 20)),
      WarmProbe()));
  EXPECT_EQ(settings.at("file_set_bytes"), "600000");
  EXPECT_EQ(settings.at("memory_bytes"), "100000");
}

// What is read at a time is in the set.
TEST(SizedTestTest, EveryPartHasAFile) {
  SizingProbe probe = WarmProbe();
  probe.work.footprint_bytes = probe.work.chunk_pages * 4096;
  const auto settings = SettingsOf(Sized(
      StorageTest(Set("memory_percent", 40) + Set("memory_bytes", 1 << 20)),
      probe));
  EXPECT_EQ(settings.at("file_set_bytes"), "20480");
  EXPECT_EQ(settings.at("memory_bytes"), "20480");
}

TEST(SizedTestTest, ColdProbesSendOneRequestAtATime) {
  SizingProbe probe = WarmProbe();
  probe.phase = SizingPhase::kChunk;
  probe.work.is_cold = true;
  probe.rate.reset();
  const DistributedSystemDescription sized = Sized(StorageTest(), probe);
  EXPECT_EQ(SettingsOf(sized).at("io"), "direct");
  const Iterations& iterations = sized.actions(0).iterations();
  EXPECT_FALSE(iterations.has_open_loop_interval_ns());
  EXPECT_EQ(iterations.max_parallel_iterations(), 1);
  EXPECT_EQ(iterations.max_duration_us(), 15'000'000);
}

TEST(SizedTestTest, FinalRunsAreLonger) {
  SizingProbe probe = WarmProbe();
  probe.request.phase = search::ProbePhase::kFinal;
  probe.request.length = 2;
  EXPECT_EQ(
      Sized(StorageTest(), probe).actions(0).iterations().max_duration_us(),
      65'000'000);
}

TEST(WithSizesTest, KeepsWhatWasNotFoundAndTheLoad) {
  StorageSizes sizes;
  sizes.hash_bytes = 5000;
  sizes.chunk_pages = 2;
  const DistributedSystemDescription test =
      WithSizes(StorageTest(Set("file_set_bytes", 1 << 20)), sizes);
  EXPECT_EQ(SettingsOf(test).at("hash_bytes"), "5000");
  EXPECT_EQ(SettingsOf(test).at("file_bytes"), "8192");
  EXPECT_EQ(SettingsOf(test).at("file_set_bytes"), "1048576");
  EXPECT_EQ(test.actions(0).iterations().open_loop_interval_ns(), 10'000'000);
}

TEST(CheckSizableTest, SaysWhatIsMissing) {
  EXPECT_TRUE(CheckSizable(StorageTest()).ok());

  DistributedSystemDescription without = StorageTest();
  without.clear_activity_configs();
  EXPECT_THAT(CheckSizable(without).message(),
              HasSubstr("no activity is of Storage"));

  DistributedSystemDescription twice = StorageTest();
  *twice.add_activity_configs() = twice.activity_configs(0);
  twice.mutable_activity_configs(1)->set_name("other");
  EXPECT_THAT(CheckSizable(twice).message(), HasSubstr("\"other\""));

  DistributedSystemDescription unlimited =
      StorageTest(Set("memory_percent", 40) + Set("memory_bytes", 1 << 20));
  unlimited.mutable_activity_configs(0)->clear_pool_name();
  EXPECT_THAT(CheckSizable(unlimited).message(), HasSubstr("pool_name"));
}

TEST(RunSizingProbeTest, PassesTheErrorOfTheRunOn) {
  const auto probe = RunSizingProbe(
      StorageTest(), "", WarmProbe(), {},
      [](const auto&, const auto&) -> absl::StatusOr<TestResult> {
        return absl::UnavailableError("lost");
      });
  EXPECT_EQ(probe.status(), absl::UnavailableError("lost"));
}

// What the footprint's search looks for: beyond the memory, a disk does not
// keep up.
TEST(RunSizingProbeTest, WhatWasTooMuchMissed) {
  for (const bool is_overloaded : {true, false}) {
    const auto probe =
        RunSizingProbe(StorageTest(), "", WarmProbe(), {},
                       [&](const DistributedSystemDescription& test,
                           const auto&) -> absl::StatusOr<TestResult> {
                         TestResult result;
                         *result.mutable_traffic_config() = test;
                         RunInfo& info = *result.mutable_run_info();
                         info.set_start_timestamp_ns(0);
                         info.set_failure("it was too much");
                         if (is_overloaded) info.set_overloaded(true);
                         // Beyond any test_timeout.
                         if (!is_overloaded)
                           info.set_end_timestamp_ns(int64_t{1} << 60);
                         return result;
                       });
    ASSERT_TRUE(probe.ok()) << probe.status();
    EXPECT_TRUE(search::ClearlyMissed(*probe));
    EXPECT_EQ(probe->request.load, WarmProbe().request.load);
    EXPECT_EQ(probe->seconds, 10);
  }
}

// A run without measurements says nothing about the host.
TEST(RunSizingProbeTest, AFailedRunIsAnError) {
  const auto probe =
      RunSizingProbe(StorageTest(), "", WarmProbe(), {},
                     [](const DistributedSystemDescription& test,
                        const auto&) -> absl::StatusOr<TestResult> {
                       TestResult result;
                       *result.mutable_traffic_config() = test;
                       result.mutable_run_info()->set_failure("node1 was lost");
                       return result;
                     });
  EXPECT_THAT(probe.status().message(), HasSubstr("node1 was lost"));
}

}  // namespace
}  // namespace distbench::bench
