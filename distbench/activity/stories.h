#ifndef DISTBENCH_ACTIVITY_STORIES_H_
#define DISTBENCH_ACTIVITY_STORIES_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"
#include "distbench/activity/work_random.h"
#include "proto/activity_data.pb.h"

namespace distbench {

struct StoriesOptions {
  int64_t stories = 1;  // of each iteration
  int objects = 20;     // of each story
  int actions = 5;      // of each object; and properties of each kind

  // Serialize: each iteration makes its stories, instead of giving new numbers
  // to those it has.
  bool generate = false;
  int parallelism = 1;
  uint64_t seed = 0;
};

// Each iteration turns a graph of protobuf messages into bytes.
std::unique_ptr<Activity> MakeSerialize(const StoriesOptions& options);

// Each iteration makes the graph from bytes that were made in advance.
std::unique_ptr<Activity> MakeDeserialize(const StoriesOptions& options);

// Appends stories. Equal random numbers give equal stories; their serialised
// size depends on the counts alone.
void AddStories(const StoriesOptions& options, int64_t count,
                WorkRandom random, FeedStories& stories);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_STORIES_H_
