// Recycles objects that are taken by one thread and given back by others.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_RETURNING_POOL_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_RETURNING_POOL_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace distbench::simulation {

// What T must derive from.
template <typename T>
class ReturningPool;
template <typename T>
struct ReturningObject {
  T* next_returned = nullptr;
  ReturningPool<T>* owner = nullptr;
};

// Objects are constructed once, in blocks, and handed out again in the state in
// which they came back. Once a pool has as many objects as are ever in use, it
// allocates nothing, however one-sided the traffic between its threads is:
// objects return to the pool that they came from.
template <typename T>
class ReturningPool {
 public:
  ReturningPool() = default;
  ReturningPool(const ReturningPool&) = delete;
  ReturningPool& operator=(const ReturningPool&) = delete;

  // One thread at a time.
  T* Get() {
    if (free_ == nullptr) {
      free_ = returned_.exchange(nullptr, std::memory_order_acquire);
      if (free_ == nullptr) Grow();
    }
    T* object = free_;
    free_ = object->next_returned;
    return object;
  }

  // Gives an object back to the pool that it is from. Any thread. (Takers empty
  // the whole list, so the exchange below cannot mistake one state of it for
  // another one.)
  static void Return(T* object) {
    std::atomic<T*>& list = object->owner->returned_;
    T* first = list.load(std::memory_order_relaxed);
    do {
      object->next_returned = first;
    } while (!list.compare_exchange_weak(
        first, object, std::memory_order_release, std::memory_order_relaxed));
  }

  // How many objects there are, in use or not.
  size_t size() const { return size_; }

 private:
  static constexpr size_t kFirstBlock = 16;
  static constexpr size_t kLargestBlock = 4096;

  void Grow() {
    const size_t count = std::clamp(size_, kFirstBlock, kLargestBlock);
    blocks_.push_back(std::make_unique<T[]>(count));
    size_ += count;
    for (size_t i = count; i-- > 0;) {
      T* object = &blocks_.back()[i];
      object->owner = this;
      object->next_returned = free_;
      free_ = object;
    }
  }

  T* free_ = nullptr;
  std::vector<std::unique_ptr<T[]>> blocks_;
  size_t size_ = 0;
  std::atomic<T*> returned_ = nullptr;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_RETURNING_POOL_H_
