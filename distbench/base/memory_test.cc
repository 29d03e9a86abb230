// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/memory.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

// Functions of sanitizers, if they are linked.
extern "C" {
void __asan_init() __attribute__((weak));
void __tsan_init() __attribute__((weak));
}

namespace distbench::base {
namespace {

constexpr int64_t kMib = 1024 * 1024;

// A host of 16 MiB, of which 12 are available.
class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() : root_(testing::TempDir() + "/host_memory_test") {
    std::filesystem::remove_all(root_);
    Write("/proc/meminfo",
          "MemTotal:       16384 kB\nMemAvailable:   12288 kB\n");
  }

  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path file(root_ + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  const std::string root_;
};

TEST_F(HostMemoryTest, HasFields) {
  EXPECT_EQ(ReadMemInfoBytes(root_, "MemAvailable"), 12 * kMib);
  EXPECT_EQ(ReadMemInfoBytes(root_, "MemAvail"), 0);
  EXPECT_EQ(ReadMemInfoBytes(root_ + "/nowhere", "MemTotal"), 0);
}

TEST_F(HostMemoryTest, AHostAllowsWhatItHas) {
  EXPECT_EQ(AllowedMemoryBytes(root_), 16 * kMib);
  EXPECT_EQ(AllowedMemoryBytes(root_ + "/nowhere"), 0);
  EXPECT_GT(AllowedMemoryBytes(""), 64 * kMib);  // the real one
}

TEST_F(HostMemoryTest, AControlGroupMayAllowLess) {
  Write("/proc/self/cgroup", "0::/system.slice/job\n");
  EXPECT_EQ(AllowedMemoryBytes(root_), 16 * kMib);
  Write("/sys/fs/cgroup/system.slice/job/memory.max", "max\n");
  EXPECT_EQ(AllowedMemoryBytes(root_), 16 * kMib);
  Write("/sys/fs/cgroup/system.slice/memory.max", "8388608\n");
  EXPECT_EQ(AllowedMemoryBytes(root_), 8 * kMib);
  Write("/sys/fs/cgroup/system.slice/job/memory.max", "4194304\n");
  EXPECT_EQ(AllowedMemoryBytes(root_), 4 * kMib);
}

TEST_F(HostMemoryTest, SoMayOneOfVersion1) {
  Write("/proc/self/cgroup",
        "5:cpu,cpuacct:/a\n4:memory:/docker/0123\n0::/other\n");
  // The value for "unlimited"; the host's limit applies.
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(AllowedMemoryBytes(root_), 16 * kMib);
  // The only file that is visible in a container.
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n");
  EXPECT_EQ(AllowedMemoryBytes(root_), 4 * kMib);
}

TEST_F(HostMemoryTest, NonsenseLimitsNothing) {
  for (const char* content : {"", "\n", "4", "4:memory", "4:memory:", "::x"}) {
    Write("/proc/self/cgroup", content);
    EXPECT_EQ(AllowedMemoryBytes(root_), 16 * kMib) << content;
  }
}

TEST_F(HostMemoryTest, CountsWhatTheKernelKilled) {
  EXPECT_EQ(ReadOomKills(root_), 0);
  Write("/proc/vmstat", "nr_free_pages 7\noom_kill 3\nthp_zero 9\n");
  EXPECT_EQ(ReadOomKills(root_), 3);
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size_pages = 0, resident_pages = 0;
  file >> size_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

TEST(FreedMemoryTest, LeavesTheProcess) {
  if (__asan_init != nullptr || __tsan_init != nullptr) {
    GTEST_SKIP() << "the sanitizer has an allocator of its own";
  }
  constexpr int64_t kBlockBytes = 1000;
  constexpr int64_t kBlocks = 50'000;
  std::vector<std::string> blocks;
  blocks.reserve(kBlocks);
  for (int i = 0; i < kBlocks; ++i) blocks.emplace_back(kBlockBytes, 'x');
  // This block lies behind the others and keeps the heap from shrinking.
  const std::string last = std::move(blocks.back());
  blocks.clear();
  const int64_t before_bytes = ResidentBytes();
  ReturnFreedMemory();
  EXPECT_LT(ResidentBytes(), before_bytes - kBlocks * kBlockBytes / 2);
  EXPECT_EQ(last.size(), kBlockBytes);
}

}  // namespace
}  // namespace distbench::base
