#include "distbench/activity/page_access.h"

#include <zlib.h>

#include <vector>

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

constexpr int64_t kAccessedPages = 10;

class PageAccessTest : public testing::Test {
 protected:
  PageRange pages() {
    return {.begin = reinterpret_cast<std::byte*>(words_.data()),
            .count = kAccessedPages};
  }

  // Compressed over uncompressed size.
  double Ratio() {
    const uLong size = words_.size() * sizeof(uint64_t);
    uLongf compressed_size = compressBound(size);
    std::vector<Bytef> compressed(compressed_size);
    EXPECT_EQ(compress(compressed.data(), &compressed_size,
                       reinterpret_cast<const Bytef*>(words_.data()), size),
              Z_OK);
    return static_cast<double>(compressed_size) / static_cast<double>(size);
  }

  const int64_t words_per_page_ =
      PageBytes() / static_cast<int64_t>(sizeof(uint64_t));
  std::vector<uint64_t> words_ =
      std::vector<uint64_t>(kAccessedPages * words_per_page_);
};

TEST_F(PageAccessTest, RandomPagesDoNotCompress) {
  WorkRandom random(1);
  FillAtRandom(pages(), random);
  EXPECT_GT(Ratio(), 0.99);
}

TEST_F(PageAccessTest, RepeatedOnesDoButAreNotOfEqualWords) {
  WorkRandom random(1);
  FillWithRepetition(pages(), random);
  EXPECT_LT(Ratio(), 0.05);
  EXPECT_NE(words_[0], words_[1]);
  EXPECT_NE(words_.back(), 0u);
}

TEST_F(PageAccessTest, TouchesOneWordOfEachPage) {
  WritePages(pages(), 7);
  EXPECT_EQ(ReadPages(pages()), 7u * kAccessedPages);
  int64_t written = 0;
  for (const uint64_t word : words_) written += word == 7 ? 1 : 0;
  EXPECT_EQ(written, kAccessedPages);
}

}  // namespace
}  // namespace distbench::activity
