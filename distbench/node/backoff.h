#ifndef DISTBENCH_NODE_BACKOFF_H_
#define DISTBENCH_NODE_BACKOFF_H_

#include <algorithm>

#include "absl/random/random.h"
#include "absl/time/time.h"

namespace distbench {

// How long to wait before the next try: from 100 ms, twice as long each time,
// to 2 s; and up to a fifth less, so that a thousand nodes do not come at once.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100);
  static constexpr absl::Duration kLongest = absl::Seconds(2);

  absl::Duration Next() {
    const absl::Duration delay = delay_;
    delay_ = std::min(2 * delay_, kLongest);
    return delay * absl::Uniform(random_, 0.8, 1.0);
  }

  // The last try was a success.
  void Reset() { delay_ = kFirst; }

 private:
  absl::Duration delay_ = kFirst;
  absl::BitGen random_;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_BACKOFF_H_
