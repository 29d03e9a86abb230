#include "distbench/base/freed_memory.h"

#include <unistd.h>

#include <cstdint>
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

namespace distbench {
namespace {

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
}  // namespace distbench
