// The work of a feed aggregator's services, in addition to their messages.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_FEED_WORK_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_FEED_WORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// The amount of each kind of work. All amounts are absolute: they do not depend
// on the hosts.
struct FeedWork {
  // Threads of each leaf's pools.
  int64_t serving_threads = 1;
  int64_t ranking_threads = 1;
  int64_t serialization_threads = 1;
  int64_t chase_threads = 1;

  // A leaf's stages, in order.
  int64_t function_calls = 0;
  int64_t rank_nodes = 1;
  int64_t rank_degree = 16;
  int64_t rank_slice = 0;  // nodes per request; 0: all
  std::string io_distribution = "fixed";
  int64_t io_wait_us = 1;
  int64_t storage_places = 0;  // concurrent waits of a leaf; 0: unlimited
  int64_t compressed_bytes = 1;
  int64_t entropy_percent = 75;
  int64_t repeated_percent = 0;
  int64_t stories = 1;         // serialised and compressed
  int64_t story_bytes = 7900;  // of each story, when compressed
  int64_t chase_bytes = 64;
  int64_t chase_hops = 1;
  int64_t reply_stories = 1;

  // Only in the second generation: leaves extract features, for which they
  // query mock services, and the aggregator composes the feed.
  bool second_generation = false;
  int64_t feature_scale = 1;  // factor on the counts of FeatureExtract
  int64_t mock_count = 0;
  int64_t mock_calls = 0;  // of each kind, per request to a leaf
};

// The choices for the parameter "preset".
std::vector<std::string> FeedPresets();

// Parameters that override the preset's values.
std::vector<Parameter> FeedWorkParameters();

// preset: one of FeedPresets().
FeedWork FeedWorkOf(const std::string& preset, const ParameterValues& values);

// Adds the pools, activities, actions and any mock services, and makes the
// actions part of the lists "leaf_query" and "feed_query".
void AddFeedWork(const FeedWork& work, DistributedSystemDescription& body);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_FEED_WORK_H_
