// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ACTIVITY_SHARED_CACHE_H_
#define DISTBENCH_ACTIVITY_SHARED_CACHE_H_

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace distbench::activity {

// Large immutable values that concurrent users share. Each is created once, and
// destroyed with its last user. Thread-safe.
template <typename Key, typename Value>
class SharedCache {
 public:
  // Returns the value for the key, calling `make` if nobody holds it. Other
  // callers wait meanwhile, whatever their key: creating two values at once
  // would only slow both down.
  std::shared_ptr<const Value> Get(const Key& key,
                                   absl::FunctionRef<Value()> make) {
    absl::MutexLock lock(&mutex_);
    std::weak_ptr<const Value>& known = values_[key];
    std::shared_ptr<const Value> value = known.lock();
    if (value == nullptr) {
      value = std::make_shared<const Value>(make());
      known = value;
    }
    return value;
  }

 private:
  absl::Mutex mutex_;
  std::map<Key, std::weak_ptr<const Value>> values_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_SHARED_CACHE_H_
