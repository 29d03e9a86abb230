// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/object_pool.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(ObjectPoolTest, HandsOutDistinctObjectsAndRecyclesThem) {
  ObjectPool<std::string> pool;
  std::set<std::string*> taken;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(taken.insert(pool.Get()).second);
  }
  EXPECT_EQ(pool.in_use(), 10000u);
  for (std::string* object : taken) pool.Put(object);
  EXPECT_EQ(pool.in_use(), 0u);
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(taken.contains(pool.Get()));
}

TEST(ObjectPoolTest, KeepsWhatObjectsHaveGrown) {
  ObjectPool<std::vector<int>> pool;
  std::vector<int>* object = pool.Get();
  object->resize(1000);
  object->clear();
  pool.Put(object);
  EXPECT_EQ(pool.Get(), object);
  EXPECT_GE(object->capacity(), 1000u);
}

}  // namespace
}  // namespace distbench::base
