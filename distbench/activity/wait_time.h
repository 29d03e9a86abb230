#ifndef DISTBENCH_ACTIVITY_WAIT_TIME_H_
#define DISTBENCH_ACTIVITY_WAIT_TIME_H_

#include <cstdint>

namespace distbench {

// How long the iterations of an activity that only waits take. Immutable.
class WaitTime {
 public:
  // mean_ns: at least 1. log_sigma: standard deviation of the logarithm, at
  // least 0. Equal seeds give equal times.
  static WaitTime Fixed(int64_t mean_ns);
  static WaitTime Exponential(int64_t mean_ns, uint64_t seed);
  static WaitTime LogNormal(int64_t mean_ns, double log_sigma, uint64_t seed);

  // Of an iteration, by its number; at least 0.
  int64_t Ns(uint64_t iteration) const;

 private:
  enum class Kind { kFixed, kExponential, kLogNormal };

  WaitTime(Kind kind, int64_t mean_ns, double log_sigma, uint64_t seed)
      : kind_(kind), mean_ns_(mean_ns), log_sigma_(log_sigma), seed_(seed) {}

  Kind kind_;
  int64_t mean_ns_;
  double log_sigma_;
  uint64_t seed_;
};

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_WAIT_TIME_H_
