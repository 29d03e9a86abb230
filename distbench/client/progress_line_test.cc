#include "distbench/client/progress_line.h"

#include "gtest/gtest.h"

namespace distbench::client {
namespace {

std::string Fit(size_t room) {
  return FitLine({{"[1/2] ", 1, false},
                  {"[##--] ", 3, false},
                  {"", 9},
                  {"7 failed", 0},
                  {"5 s", 4},
                  {"2 kQPS", 2},
                  {"  name", 5, false}},
                 room);
}

TEST(FitLineTest, SaysAsMuchAsFits) {
  EXPECT_EQ(Fit(100), "[1/2] [##--] 7 failed, 5 s, 2 kQPS  name");
  EXPECT_EQ(Fit(40), "[1/2] [##--] 7 failed, 5 s, 2 kQPS  name");
  EXPECT_EQ(Fit(39), "[1/2] [##--] 7 failed, 5 s, 2 kQPS");
  EXPECT_EQ(Fit(33), "[1/2] [##--] 7 failed, 2 kQPS");
  EXPECT_EQ(Fit(28), "[1/2] 7 failed, 2 kQPS");
  EXPECT_EQ(Fit(21), "[1/2] 7 failed");
  EXPECT_EQ(Fit(13), "7 failed");
}

TEST(FitLineTest, CutsTheMostImportantPartLast) {
  EXPECT_EQ(Fit(3), "7 f");
  EXPECT_EQ(Fit(0), "");
  EXPECT_EQ(FitLine({}, 5), "");
}

}  // namespace
}  // namespace distbench::client
