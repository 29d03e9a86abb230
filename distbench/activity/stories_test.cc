// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/stories.h"

#include <string>

#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

using ::google::protobuf::util::MessageDifferencer;

constexpr StoriesOptions kOptions = {.stories = 10, .seed = 1};

FeedStories Stories(uint64_t seed) {
  FeedStories stories;
  AddStories(kOptions, kOptions.stories, base::WorkRandom(seed), stories);
  return stories;
}

TEST(StoriesTest, HaveTheirShape) {
  const FeedStories stories = Stories(1);
  ASSERT_EQ(stories.stories_size(), 10);
  ASSERT_EQ(stories.stories(0).objects_size(), 20);
  const FeedObject& object = stories.stories(0).objects(0);
  EXPECT_EQ(object.actions_size(), 5);
  EXPECT_EQ(object.numbers_size(), 5);
  EXPECT_EQ(object.texts_size(), 5);
  EXPECT_EQ(object.vectors_size(), 5);
}

TEST(StoriesTest, SizeDependsOnTheCountsAlone) {
  EXPECT_EQ(Stories(1).ByteSizeLong(), Stories(2).ByteSizeLong());
  EXPECT_FALSE(MessageDifferencer::Equals(Stories(1), Stories(2)));
  // As in FeedSim, whose stories take about 7.9 kB each.
  EXPECT_NEAR(static_cast<double>(Stories(1).ByteSizeLong()) / 10, 7900, 100);
}

TEST(StoriesTest, DeserialisedEqualsOriginal) {
  const FeedStories stories = Stories(1);
  FeedStories back;
  ASSERT_TRUE(back.ParseFromString(stories.SerializeAsString()));
  EXPECT_TRUE(MessageDifferencer::Equals(back, stories));
}

TEST(StoriesTest, WhatIsSerialisedCanBeDeserialised) {
  const Work out = DoIteration(*MakeSerialize(kOptions), 0);
  const Work in = DoIteration(*MakeDeserialize(kOptions), 0);
  EXPECT_EQ(out.output_bytes, static_cast<int64_t>(Stories(1).ByteSizeLong()));
  EXPECT_EQ(in.input_bytes, out.output_bytes);
}

TEST(StoriesTest, GenerateMakesNewStories) {
  StoriesOptions options = kOptions;
  options.generate = true;
  const auto fresh = MakeSerialize(options);
  const auto renumbered = MakeSerialize(kOptions);
  EXPECT_NE(DoIteration(*fresh, 1).checksum,
            DoIteration(*renumbered, 1).checksum);
  EXPECT_EQ(DoIteration(*fresh, 1).output_bytes,
            DoIteration(*renumbered, 1).output_bytes);
}

TEST(StoriesTest, PartsShareTheStories) {
  StoriesOptions options = kOptions;
  options.parallelism = 3;
  const auto parts = MakeSerialize(options);
  EXPECT_EQ(DoIteration(*parts, 0).output_bytes,
            DoIteration(*MakeSerialize(kOptions), 0).output_bytes);
}

}  // namespace
}  // namespace distbench::activity
