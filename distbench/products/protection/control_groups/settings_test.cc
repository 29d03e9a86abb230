// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/settings.h"

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SettingsTest : public testing::Test {
 protected:
  template <typename Message>
  std::vector<std::string> Lines(const std::string& text) const {
    std::vector<std::string> lines;
    for (const FileSetting& each : SettingsOf(base::FromText<Message>(text),
                                              ReadHostAmounts(host_.root()))) {
      EXPECT_TRUE(each.problem.ok()) << each.problem;
      lines.push_back(each.file + " = " + each.value);
    }
    return lines;
  }

  std::string Problem(const std::string& text) const {
    const auto settings = SettingsOf(base::FromText<ControlGroup>(text),
                                     ReadHostAmounts(host_.root()));
    EXPECT_EQ(settings.size(), 1u);
    return base::Message(settings.at(0).problem);
  }

  const FakeHierarchy host_;
};

TEST_F(SettingsTest, SetsOnlyWhatIsThere) {
  EXPECT_THAT(Lines<ControlGroup>("services: 'a'"), ElementsAre());
  EXPECT_THAT(Lines<IoCostSettings>("device: 'disk0'"), ElementsAre());
}

TEST_F(SettingsTest, AreInTheFormOfTheKernel) {
  EXPECT_THAT(
      Lines<ControlGroup>(R"(
        cpu_weight: 500
        cpu_max: "1.5"
        cpuset_cpus: "0-1"
        cpuset_mems: "0"
        memory_min: "4097B"
        memory_low: "50%"
        memory_high: "512MiB"
        memory_max: "max"
        memory_swap_max: "0B"
        io_weight: 300
        io_max { device: "disk0" read_bytes: "1MB" write_operations: 7 }
        io_priority_class: "idle")"),
      ElementsAre("cpu.weight = 500", "cpu.max = 150000 100000",
                  "cpuset.cpus = 0-1", "cpuset.mems = 0", "memory.min = 4096",
                  "memory.low = 536870912", "memory.high = 536870912",
                  "memory.max = max", "memory.swap.max = 0",
                  "io.weight = default 300",
                  "io.max = 8:0 rbps=1000000 wbps=max riops=max wiops=7",
                  "io.prio.class = idle"));
}

TEST_F(SettingsTest, DevicesMayBeGivenByTheirNumbers) {
  EXPECT_THAT(
      Lines<ControlGroup>("io_max { device: '8:0' write_bytes: 'max' }"),
      ElementsAre("io.max = 8:0 rbps=max wbps=max riops=max wiops=max"));
}

TEST_F(SettingsTest, SharesOfCpuTimeAreOfTheHosts) {
  EXPECT_THAT(Lines<ControlGroup>("cpu_max: '50%'"),
              ElementsAre("cpu.max = 200000 100000"));
  EXPECT_THAT(Lines<ControlGroup>("cpu_max: 'max'"),
              ElementsAre("cpu.max = max 100000"));
}

TEST_F(SettingsTest, SetTheModelBeforeTheQos) {
  EXPECT_THAT(
      Lines<IoCostSettings>(R"(
        device: "disk0"
        enable: true
        model { rbps: 1 rseqiops: 2 rrandiops: 3 wbps: 4 wseqiops: 5 }
        qos { rpct: 95 rlat: 19562 wpct: 99.5 wlat: 6 min: 60 max: 100 })"),
      ElementsAre("io.cost.model = 8:0 ctrl=user model=linear rbps=1 "
                  "rseqiops=2 rrandiops=3 wbps=4 wseqiops=5",
                  "io.cost.qos = 8:0 enable=1 ctrl=user rpct=95.00 rlat=19562 "
                  "wpct=99.50 wlat=6 min=60.00 max=100.00"));
  EXPECT_THAT(Lines<IoCostSettings>("device: 'disk0' enable: false"),
              ElementsAre("io.cost.qos = 8:0 enable=0"));
}

TEST_F(SettingsTest, SayWhatIsWrong) {
  EXPECT_THAT(Problem("cpu_max: '0.001'"), HasSubstr("less than 0.01 CPUs"));
  for (const char* amount : {"", "-1", "0", "nan", "inf", "101%", "1e9", "x"}) {
    EXPECT_THAT(Problem("cpu_max: '" + std::string(amount) + "'"),
                HasSubstr("not an amount of CPU time"));
  }
  EXPECT_THAT(Problem("memory_max: '0%'"), HasSubstr("with its unit"));
  EXPECT_THAT(Problem("io_max { device: 'disk0' read_bytes: '5' }"),
              HasSubstr("with its unit"));
}

TEST_F(SettingsTest, RefuseADeviceByTwoNames) {
  const auto settings =
      SettingsOf(base::FromText<ControlGroup>(
                     "io_max { device: 'disk0' read_bytes: '1MB' } "
                     "io_max { device: '8:0' write_bytes: '1MB' }"),
                 ReadHostAmounts(host_.root()));
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_TRUE(settings[0].problem.ok());
  EXPECT_THAT(base::Message(settings[1].problem),
              HasSubstr("device 8:0 is listed twice"));
}

TEST_F(SettingsTest, KeepTheTextThatHasNoValue) {
  const auto settings =
      SettingsOf(base::FromText<ControlGroup>("memory_max: 'much'"),
                 ReadHostAmounts(host_.root()));
  EXPECT_EQ(settings.at(0).value, "much");
  EXPECT_EQ(settings.at(0).controller(), "memory");
}

TEST_F(SettingsTest, DoNotMistakeAnUnknownAmountOfMemoryForNone) {
  host_.Write("/proc/meminfo", "");
  EXPECT_THAT(Problem("memory_max: '50%'"),
              HasSubstr("does not say how much memory it has"));
}

TEST_F(SettingsTest, FindDevicesByNameAndNumbers) {
  EXPECT_EQ(FindDevice(host_.root(), "disk0").value(), "8:0");
  EXPECT_EQ(FindDevice(host_.root(), "8:0").value(), "8:0");
  for (const char* device : {"", "disk1", "9:9", "../block/disk0", ":"}) {
    EXPECT_EQ(FindDevice(host_.root(), device).status().code(),
              absl::StatusCode::kNotFound)
        << device;
  }
  EXPECT_THAT(base::Message(FindDevice(host_.root(), "disk0p1").status()),
              HasSubstr("name the whole device"));
}

TEST(SaysTest, ComparesWholeTexts) {
  EXPECT_TRUE(Says("cpu.weight", "100\n", "100"));
  EXPECT_FALSE(Says("cpu.weight", "100\n", "10"));
  EXPECT_TRUE(Says("cpu.max", "max 100000\n", "max 100000"));
  EXPECT_FALSE(Says("memory.max", "max\n", "4096"));
}

TEST(SaysTest, ListsHaveNoOrder) {
  EXPECT_TRUE(Says("cpuset.cpus", "0-2,5\n", "5,0,1,2"));
  EXPECT_FALSE(Says("cpuset.cpus", "0-2\n", "0-3"));
  EXPECT_TRUE(Says("cpuset.cpus", "\n", ""));
}

TEST(SaysTest, LinesOfOtherDevicesDoNotMatter) {
  constexpr char kText[] =
      "8:0 rbps=1 wbps=max riops=max wiops=max\n"
      "8:16 rbps=2 wbps=max riops=max wiops=max\n";
  EXPECT_TRUE(
      Says("io.max", kText, "8:16 rbps=2 wbps=max riops=max wiops=max"));
  EXPECT_FALSE(
      Says("io.max", kText, "8:1 rbps=2 wbps=max riops=max wiops=max"));
  EXPECT_FALSE(
      Says("io.max", kText, "8:16 rbps=1 wbps=max riops=max wiops=max"));
}

TEST(SaysTest, NoLineIsNoLimit) {
  EXPECT_TRUE(Says("io.max", "", "8:0 rbps=max wbps=max riops=max wiops=max"));
  EXPECT_FALSE(Says("io.max", "", "8:0 rbps=1 wbps=max riops=max wiops=max"));
}

TEST(SaysTest, TheWeightOfAllDevicesIsALine) {
  EXPECT_TRUE(Says("io.weight", "default 200\n8:0 50\n", "default 200"));
  EXPECT_FALSE(Says("io.weight", "default 100\n8:0 200\n", "default 200"));
}

TEST(SaysTest, PercentagesHaveTwoDecimalPlaces) {
  EXPECT_TRUE(Says("io.cost.qos", "8:0 enable=1 ctrl=user rpct=95.00\n",
                   "8:0 enable=1 ctrl=user rpct=95"));
  EXPECT_FALSE(Says("io.cost.qos", "8:0 enable=1 ctrl=user rpct=95.01\n",
                    "8:0 rpct=95"));
}

TEST(SaysTest, WhatAValueLeavesOpenDoesNotMatter) {
  EXPECT_TRUE(Says("io.cost.model",
                   "8:0 ctrl=user model=linear rbps=7 wbps=9\n",
                   "8:0 ctrl=user model=linear rbps=7"));
}

TEST(UndoingValueTest, IsTheTextThatWasThere) {
  EXPECT_EQ(UndoingValue("cpu.weight", "100\n", "500"), "100");
  EXPECT_EQ(UndoingValue("cpuset.cpus", "\n", "0-1"), "");
  EXPECT_EQ(UndoingValue("io.weight", "default 100\n8:0 50\n", "default 200"),
            "default 100");
  EXPECT_EQ(UndoingValue("io.max", "8:0 rbps=5 wbps=max riops=max wiops=max\n",
                         "8:0 rbps=1 wbps=1 riops=1 wiops=1"),
            "8:0 rbps=5 wbps=max riops=max wiops=max");
}

TEST(UndoingValueTest, RemovesALineThatWasNotThere) {
  EXPECT_EQ(UndoingValue("io.max", "8:16 rbps=5\n", "8:0 rbps=1"),
            "8:0 rbps=max wbps=max riops=max wiops=max");
  EXPECT_EQ(UndoingValue("io.cost.qos", "", "8:0 enable=1 rpct=95.00"),
            "8:0 enable=0 ctrl=auto");
  EXPECT_EQ(UndoingValue("io.cost.model", "", "8:0 rbps=1"), "8:0 ctrl=auto");
}

TEST(UndoingValueTest, DoesNotTakeTheKernelsParametersForTheUsers) {
  EXPECT_EQ(UndoingValue("io.cost.qos", "8:0 enable=1 ctrl=auto rpct=95.00\n",
                         "8:0 enable=1 ctrl=user rpct=50.00"),
            "8:0 enable=1 ctrl=auto");
  EXPECT_EQ(UndoingValue("io.cost.model", "8:0 ctrl=auto model=linear rbps=7\n",
                         "8:0 rbps=1"),
            "8:0 ctrl=auto");
  EXPECT_EQ(UndoingValue("io.cost.model", "8:0 ctrl=user model=linear rbps=7\n",
                         "8:0 rbps=1"),
            "8:0 ctrl=user model=linear rbps=7");
}

}  // namespace
}  // namespace distbench::protection
