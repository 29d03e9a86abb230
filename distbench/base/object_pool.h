// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_OBJECT_POOL_H_
#define DISTBENCH_BASE_OBJECT_POOL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace distbench::base {

// Recycles objects of one type. Objects are constructed once, in blocks, and
// handed out again in the state in which they were put back, so that what they
// have grown (a string's capacity, for example) is kept; the taker resets what
// it uses. Once the pool has grown to the largest number in use, it allocates
// nothing.
//
// Not thread-safe. Destroys all objects, including those that were not put
// back.
template <typename T>
class ObjectPool {
 public:
  ObjectPool() = default;
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  T* Get() {
    if (free_.empty()) Grow();
    T* object = free_.back();
    free_.pop_back();
    return object;
  }

  // object must come from this pool's Get().
  void Put(T* object) { free_.push_back(object); }

  size_t in_use() const { return size_ - free_.size(); }

 private:
  static constexpr size_t kFirstBlock = 16;
  static constexpr size_t kLargestBlock = 4096;

  void Grow() {
    const size_t block = std::min(std::max(size_, kFirstBlock), kLargestBlock);
    blocks_.push_back(std::make_unique<T[]>(block));
    size_ += block;
    free_.reserve(size_);
    for (size_t i = block; i-- > 0;) free_.push_back(&blocks_.back()[i]);
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<T*> free_;
  size_t size_ = 0;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_OBJECT_POOL_H_
