// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ACTIVITY_STORIES_H_
#define DISTBENCH_ACTIVITY_STORIES_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"
#include "distbench/base/work_random.h"
#include "proto/activity_data.pb.h"

namespace distbench::activity {

struct StoriesOptions {
  int64_t stories = 1;  // per iteration
  int objects = 20;     // per story
  int actions = 5;      // per object; also properties of each kind

  // Serialize only: each iteration creates its stories, instead of renumbering
  // existing ones.
  bool generate = false;
  int parallelism = 1;
  uint64_t seed = 0;
};

// Each iteration serialises a graph of protobuf messages.
std::unique_ptr<Activity> MakeSerialize(const StoriesOptions& options);

// Each iteration parses a graph of protobuf messages that was serialised in
// advance.
std::unique_ptr<Activity> MakeDeserialize(const StoriesOptions& options);

// Appends stories. Equal random numbers give equal stories. Their serialised
// size depends only on the counts.
void AddStories(const StoriesOptions& options, int64_t count,
                base::WorkRandom random, FeedStories& stories);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_STORIES_H_
