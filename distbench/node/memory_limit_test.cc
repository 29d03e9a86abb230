#include "distbench/node/memory_limit.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kKib = 1024;
constexpr int64_t kMib = 1024 * kKib;

// A host with 16 MiB, of which 12 are available.
class MemoryLimitTest : public testing::Test {
 protected:
  MemoryLimitTest() : root_(testing::TempDir() + "/memory_limit_test") {
    std::filesystem::remove_all(root_);
    SetAvailableKib(12 * kKib);
    SetResident(4 * kMib);
  }

  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path file(root_ + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  void SetAvailableKib(int64_t kib) {
    Write("/proc/meminfo", absl::StrCat("MemTotal:       16384 kB\n",
                                        "MemAvailable:   ", kib, " kB\n"));
  }

  void SetResident(int64_t bytes) {
    Write("/proc/self/statm",
          absl::StrCat("99999 ", bytes / sysconf(_SC_PAGESIZE), " 10 1 0 9\n"));
  }

  std::string Error(const MemoryLimit& limit) {
    return std::string(limit.Check(0).message());
  }

  const std::string root_;
};

TEST_F(MemoryLimitTest, ATestMaySayHowMuch) {
  const MemoryLimit limit(10 * kMib, root_);
  EXPECT_TRUE(limit.Check(0).ok()) << limit.Check(0);
  SetResident(11 * kMib);
  EXPECT_TRUE(absl::IsResourceExhausted(limit.Check(0)));
  EXPECT_THAT(Error(limit),
              AllOf(HasSubstr("11.0 MiB"), HasSubstr("allow 10.0 MiB"),
                    HasSubstr("max_memory_bytes")));
}

TEST_F(MemoryLimitTest, TheDefaultIsNineTenths) {
  const MemoryLimit limit(0, root_);
  SetResident(14 * kMib);
  EXPECT_TRUE(limit.Check(0).ok()) << limit.Check(0);
  SetResident(15 * kMib);
  EXPECT_THAT(Error(limit), HasSubstr("nine tenths"));
}

TEST_F(MemoryLimitTest, TheHostKeepsATwentiethUnlessTheTestSaysHowMuch) {
  SetAvailableKib(818);
  EXPECT_THAT(Error(MemoryLimit(0, root_)),
              AllOf(HasSubstr("left on the host: 0.8 MiB"),
                    HasSubstr("this node uses 4.0 MiB")));
  EXPECT_TRUE(MemoryLimit(10 * kMib, root_).Check(0).ok());
}

TEST_F(MemoryLimitTest, WhatIsNotKnownLimitsNothing) {
  const MemoryLimit limit(0, root_ + "/nowhere");
  EXPECT_TRUE(limit.Check(0).ok()) << limit.Check(0);
}

}  // namespace
}  // namespace distbench
