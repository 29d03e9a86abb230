// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/feature_extract.h"

#include <bit>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "distbench/activity/memory_access.h"
#include "distbench/base/work_random.h"

namespace distbench::activity {
namespace {

// The key with this number, for look-ups and trees.
uint64_t KeyOf(uint64_t number) { return base::WorkRandom::Mix(number); }

class HashTable {
 public:
  explicit HashTable(int64_t entries) : entries_(entries) {
    table_.reserve(entries);
    for (int64_t i = 0; i < entries; ++i) table_.emplace(KeyOf(i), i);
  }

  uint64_t LookUp(int64_t count, base::WorkRandom& random) const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto found = table_.find(KeyOf(random.Below(2 * entries_)));
      sum += found == table_.end() ? 1 : found->second;
    }
    return sum;
  }

 private:
  const uint64_t entries_;
  absl::flat_hash_map<uint64_t, uint64_t> table_;
};

class Tree {
 public:
  explicit Tree(int64_t nodes) : nodes_(nodes) {
    for (int64_t i = 0; i < nodes; ++i) tree_.emplace(KeyOf(i), i);
  }

  uint64_t Walk(int64_t count, base::WorkRandom& random) const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto found = tree_.lower_bound(random());
      sum += found == tree_.end() ? nodes_ : found->second;
    }
    return sum;
  }

 private:
  const uint64_t nodes_;
  std::map<uint64_t, uint64_t> tree_;
};

class Bitsets {
 public:
  Bitsets(int64_t bits, base::WorkRandom random)
      : words_((bits + 63) / 64), sets_(kSets * words_) {
    for (uint64_t& word : sets_) word = random();
  }

  uint64_t Intersect(int64_t count, base::WorkRandom& random) const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t* const a = &sets_[random.Below(kSets) * words_];
      const uint64_t* const b = &sets_[random.Below(kSets) * words_];
      for (int64_t j = 0; j < words_; ++j) sum += std::popcount(a[j] & b[j]);
    }
    return sum;
  }

 private:
  static constexpr int64_t kSets = 1000;

  const int64_t words_;  // of each set
  std::vector<uint64_t> sets_;
};

class Embeddings {
 public:
  Embeddings(int64_t rows, int64_t dimension, base::WorkRandom random)
      : rows_(rows), dimension_(dimension), table_(rows * dimension) {
    for (float& value : table_) value = static_cast<float>(random.Fraction());
  }

  uint64_t Gather(int64_t count, base::WorkRandom& random) const {
    std::vector<float> sum(dimension_);
    for (int64_t i = 0; i < count; ++i) {
      const float* const row = &table_[random.Below(rows_) * dimension_];
      for (int64_t j = 0; j < dimension_; ++j) sum[j] += row[j];
    }
    uint64_t checksum = 0;
    for (float value : sum) checksum += std::bit_cast<uint32_t>(value);
    return checksum;
  }

 private:
  const int64_t rows_;
  const int64_t dimension_;
  std::vector<float> table_;
};

uint64_t CallFunctions(int64_t count, base::WorkRandom& random) {
  uint64_t value = 0;
  for (int64_t i = 0; i < count; ++i) {
    value = CallFunction(random.Below(kManyFunctions), value);
  }
  return value;
}

class FeatureExtract final : public Activity {
 public:
  explicit FeatureExtract(const FeatureExtractOptions& options)
      : options_(options) {
    if (options.hash_lookups > 0) {
      hash_table_ = std::make_unique<HashTable>(options.hash_entries);
    }
    if (options.tree_walks > 0) {
      tree_ = std::make_unique<Tree>(options.tree_nodes);
    }
    if (options.bitset_intersections > 0) {
      bitsets_ = std::make_unique<Bitsets>(options.bitset_bits,
                                           base::WorkRandom(options.seed, 1));
    }
    if (options.embedding_rows_gathered > 0) {
      embeddings_ = std::make_unique<Embeddings>(
          options.embedding_rows, options.embedding_dimension,
          base::WorkRandom(options.seed, 2));
    }
  }

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    const auto share = [&](int64_t count) {
      return ShareOf(count, part, options_.parallelism).size();
    };
    base::WorkRandom random(options_.seed, iteration, part);
    Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
    if (hash_table_ != nullptr) {
      work.checksum +=
          hash_table_->LookUp(share(options_.hash_lookups), random);
    }
    if (tree_ != nullptr) {
      work.checksum += tree_->Walk(share(options_.tree_walks), random);
    }
    if (bitsets_ != nullptr) {
      work.checksum +=
          bitsets_->Intersect(share(options_.bitset_intersections), random);
    }
    if (embeddings_ != nullptr) {
      work.checksum +=
          embeddings_->Gather(share(options_.embedding_rows_gathered), random);
    }
    work.checksum += CallFunctions(share(options_.function_calls), random);
    return work;
  }

 private:
  const FeatureExtractOptions options_;
  std::unique_ptr<const HashTable> hash_table_;
  std::unique_ptr<const Tree> tree_;
  std::unique_ptr<const Bitsets> bitsets_;
  std::unique_ptr<const Embeddings> embeddings_;
};

}  // namespace

std::unique_ptr<Activity> MakeFeatureExtract(
    const FeatureExtractOptions& options) {
  return std::make_unique<FeatureExtract>(options);
}

}  // namespace distbench::activity
