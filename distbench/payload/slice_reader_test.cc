// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/payload/slice_reader.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::payload {
namespace {

using Slices = std::vector<absl::string_view>;

TEST(SliceReaderTest, ReadsNumbersAcrossSlices) {
  const Slices slices = {"\xac", "", "\x02", "\x01"};
  SliceReader reader(slices);
  uint64_t value = 0;
  ASSERT_TRUE(reader.ReadVarint(value));
  EXPECT_EQ(value, 300);
  ASSERT_TRUE(reader.ReadVarint(value));
  EXPECT_EQ(value, 1);
  EXPECT_TRUE(reader.at_end());
  EXPECT_FALSE(reader.ReadVarint(value));
}

TEST(SliceReaderTest, RefusesNumbersOfElevenBytes) {
  const std::string ten = std::string(9, '\x80') + '\x01';
  const std::string eleven = std::string(10, '\x80') + '\x01';
  uint64_t value = 0;
  EXPECT_TRUE(SliceReader(Slices{ten}).ReadVarint(value));
  EXPECT_EQ(value, uint64_t{1} << 63);
  EXPECT_FALSE(SliceReader(Slices{eleven}).ReadVarint(value));
}

TEST(SliceReaderTest, RefusesTagsOfSixBytesAndFieldZero) {
  uint32_t tag = 0;
  EXPECT_TRUE(SliceReader(Slices{"\x88\x80\x80\x80\x01"}).ReadTag(tag));
  EXPECT_FALSE(SliceReader(Slices{"\x88\x80\x80\x80\x80\x01"}).ReadTag(tag));
  EXPECT_FALSE(SliceReader(Slices{"\x05"}).ReadTag(tag));
}

TEST(SliceReaderTest, CopiesOnlyWhatIsSpread) {
  const Slices slices = {"abc", "def"};
  SliceReader reader(slices);
  absl::string_view bytes;
  std::string scratch;
  ASSERT_TRUE(reader.ReadBytes(2, bytes, scratch));
  EXPECT_EQ(bytes.data(), slices[0].data());
  EXPECT_EQ(bytes, "ab");
  ASSERT_TRUE(reader.ReadBytes(3, bytes, scratch));
  EXPECT_EQ(bytes.data(), scratch.data());
  EXPECT_EQ(bytes, "cde");
  EXPECT_FALSE(reader.ReadBytes(2, bytes, scratch));
}

TEST(SliceReaderTest, SkipsAcrossSlicesButNotBeyondTheEnd) {
  const Slices slices = {"abc", "def"};
  SliceReader reader(slices);
  ASSERT_TRUE(reader.Skip(0));
  ASSERT_TRUE(reader.Skip(5));
  EXPECT_FALSE(reader.at_end());
  EXPECT_FALSE(reader.Skip(2));
  ASSERT_TRUE(reader.Skip(1));
  EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace distbench::payload
