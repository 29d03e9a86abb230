// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ACTIVITY_FEATURE_EXTRACT_H_
#define DISTBENCH_ACTIVITY_FEATURE_EXTRACT_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

// The amount of each kind of work in an iteration, and the size of its data. A
// kind with a count of 0 needs no data.
struct FeatureExtractOptions {
  int64_t hash_lookups = 0;  // half of them find their key
  int64_t hash_entries = 1;

  int64_t tree_walks = 0;  // from the root of a balanced tree to a leaf
  int64_t tree_nodes = 1;

  int64_t bitset_intersections = 0;  // of two of 1000 sets, counting bits
  int64_t bitset_bits = 64;          // of each set

  int64_t embedding_rows_gathered = 0;  // and summed up
  int64_t embedding_rows = 1;
  int64_t embedding_dimension = 1;  // floats in a row

  int64_t function_calls = 0;  // of 10000 functions

  int parallelism = 1;
  uint64_t seed = 0;
};

// The work on each candidate of a feed before ranking.
std::unique_ptr<Activity> MakeFeatureExtract(
    const FeatureExtractOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_FEATURE_EXTRACT_H_
