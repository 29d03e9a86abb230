// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/compress.h"

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <new>
#include <tuple>

#include "distbench/base/testing/scarce_memory.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

// The entropy of single bytes, in bits per byte.
double EntropyOf(const std::string& text) {
  std::map<char, double> counts;
  for (char c : text) ++counts[c];
  double bits = 0;
  for (const auto& [c, count] : counts) {
    const double share = count / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

TEST(CorpusTest, HasItsSizeAndSeed) {
  const CorpusOptions options = {.bytes = 10'001, .seed = 1};
  const std::string text = MakeCorpus(options);
  EXPECT_EQ(text.size(), 10'001u);
  EXPECT_EQ(MakeCorpus(options), text);
  EXPECT_NE(MakeCorpus({.bytes = 10'001, .seed = 2}), text);
  EXPECT_EQ(SharedCorpus(options), SharedCorpus(options));
}

TEST(CorpusTest, HasItsEntropy) {
  for (const int percent : {0, 25, 50, 75, 100}) {
    const std::string text = MakeCorpus(
        {.bytes = 200'000, .entropy_percent = percent, .repeated_percent = 0});
    EXPECT_NEAR(EntropyOf(text), 8 * percent / 100.0, 0.01) << percent;
  }
}

// Only the repetitions in noise can be compressed.
TEST(CorpusTest, RepeatsItself) {
  const auto zlib = MakeCompressor("zlib", 9);
  const auto ratio = [&](int repeated_percent) {
    const std::string text = MakeCorpus({.bytes = 500'000,
                                         .entropy_percent = 100,
                                         .repeated_percent = repeated_percent});
    std::string compressed;
    zlib->Compress(text, compressed);
    return static_cast<double>(compressed.size()) /
           static_cast<double>(text.size());
  };
  EXPECT_GT(ratio(0), 0.99);
  // A repetition of 40 bytes takes about three bytes.
  EXPECT_NEAR(ratio(50), 0.54, 0.05);
  EXPECT_LT(ratio(90), 0.25);
}

TEST(DigestTest, TellsDataApart) {
  const std::string text = MakeCorpus({.bytes = 1000});
  std::string other = text;
  other[64] ^= 1;
  EXPECT_NE(Digest(text), Digest(other));
  EXPECT_NE(Digest(text), Digest(text.substr(0, 999)));
}

class CompressTest
    : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  CompressOptions Options() const {
    return {.algorithm = std::get<0>(GetParam()),
            .level = std::get<1>(GetParam()),
            .bytes = 10'000,
            .corpus = {.bytes = 100'000}};
  }
};
INSTANTIATE_TEST_SUITE_P(Algorithms, CompressTest,
                         testing::Values(std::tuple("zlib", 0),
                                         std::tuple("zlib", 9),
                                         std::tuple("snappy", 0),
                                         std::tuple("zstd", 0),
                                         std::tuple("zstd", 12)));

TEST_P(CompressTest, DecompressingGivesTheOriginal) {
  const auto compressor =
      MakeCompressor(std::get<0>(GetParam()), std::get<1>(GetParam()));
  for (const int64_t bytes : {1, 100, 70'000}) {
    const std::string text = MakeCorpus({.bytes = bytes});
    std::string compressed;
    std::string back;
    compressor->Compress(text, compressed);
    compressor->Decompress(compressed, text.size(), back);
    EXPECT_EQ(back, text);
  }
}

TEST_P(CompressTest, CountsBytes) {
  const auto compress = MakeCompress(Options());
  const Work work = DoIteration(*compress, 3);
  EXPECT_EQ(work.input_bytes, 10'000);
  EXPECT_GT(work.output_bytes, 1000);
  EXPECT_LT(work.output_bytes, 8000);
  const auto decompress = MakeDecompress(Options());
  const Work back = DoIteration(*decompress, 3);
  EXPECT_EQ(back.output_bytes, 10'000);
  // The piece with this number.
  EXPECT_EQ(back.input_bytes, work.output_bytes);
}

TEST_P(CompressTest, PartsAreBlocks) {
  CompressOptions options = Options();
  options.parallelism = 3;
  EXPECT_EQ(DoIteration(*MakeCompress(options), 0).input_bytes, 10'000);
  EXPECT_EQ(DoIteration(*MakeDecompress(options), 0).output_bytes, 10'000);
}

TEST(CompressLevelTest, HigherLevelsCompressMore) {
  const auto bytes = [](int level) {
    return DoIteration(*MakeCompress({.level = level,
                                      .bytes = 500'000,
                                      .corpus = {.bytes = 500'000}}),
                       0)
        .output_bytes;
  };
  EXPECT_LT(bytes(15), bytes(1));
}

TEST(CompressorTest, ThrowsWhatOtherDataThrowsIfThereIsNoMemory) {
  if (base::kSanitized) GTEST_SKIP() << "a sanitizer ends the process";
  const base::ScarceMemory scarce(4096);
  bool has_thrown = false;
  std::array<std::unique_ptr<Compressor>, 64> compressors;
  try {
    for (auto& each : compressors) each = MakeCompressor("zlib", 9);
  } catch (const std::bad_alloc&) {
    has_thrown = true;
  }
  EXPECT_TRUE(has_thrown);
}

}  // namespace
}  // namespace distbench::activity
