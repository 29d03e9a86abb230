#include "distbench/products/protection/control_groups/read_back.h"

#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

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
