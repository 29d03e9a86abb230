// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What decides whether another attempt of an RPC may be sent, and when: budgets
// of retries, circuit breakers, limits of concurrency; backoff of retries,
// delay of hedges.

#ifndef DISTBENCH_ENGINE_POLICIES_ATTEMPTS_H_
#define DISTBENCH_ENGINE_POLICIES_ATTEMPTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "absl/random/bit_gen_ref.h"
#include "distbench/config/plan/plan.h"
#include "distbench/stats/log_histogram.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// Returns the part of a limit that one of its workers gets; the first ones get
// what is left over. None of kUnlimited.
inline int64_t ShareOfLimit(int64_t limit, int worker, int worker_count) {
  if (limit == config::kUnlimited) return limit;
  return limit / worker_count + (worker < limit % worker_count ? 1 : 0);
}

// Counts events of the last window_ns. The window moves in steps of a sixteenth
// of it, so that memory and time are constant; bounds on both sides say what
// that leaves open. Times are monotonic and must not decrease.
class SlidingCount {
 public:
  // window_ns: at least 1.
  explicit SlidingCount(int64_t window_ns)
      : slot_ns_((window_ns - 1) / kSlots + 1) {}

  void Add(int64_t now_ns, int64_t count = 1) {
    Advance(now_ns);
    counts_[slot_ % counts_.size()] += count;
    total_ += count;
  }

  // All events of the window, and perhaps some that are up to a sixteenth of it
  // older.
  int64_t AtMost(int64_t now_ns) {
    Advance(now_ns);
    return total_;
  }

  // Only events of the window, and perhaps not those of its oldest sixteenth.
  int64_t AtLeast(int64_t now_ns) {
    Advance(now_ns);
    return total_ - counts_[(slot_ + 1) % counts_.size()];
  }

  void Clear() {
    counts_.fill(0);
    total_ = 0;
  }

 private:
  static constexpr int64_t kSlots = 16;

  void Advance(int64_t now_ns) {
    const int64_t slot = now_ns / slot_ns_;
    const int64_t passed = std::min<int64_t>(slot - slot_, counts_.size());
    for (int64_t i = 1; i <= passed; ++i) {
      int64_t& oldest = counts_[(slot_ + i) % counts_.size()];
      total_ -= oldest;
      oldest = 0;
    }
    slot_ = std::max(slot, slot_);
  }

  int64_t slot_ns_;
  int64_t slot_ = 0;  // the current one
  int64_t total_ = 0;
  std::array<int64_t, kSlots + 1> counts_ = {};  // by slot, modulo their number
};

// Says whether further attempts may be sent. Whenever it allows one, the window
// that ends then has at most
//   ratio * requests + min_per_second * window
// of them. One worker's part: its own requests, and an even share of the
// minimum.
class AttemptBudget {
 public:
  AttemptBudget(const RetryBudget& budget, int worker_count)
      : ratio_(budget.ratio()),
        minimum_(budget.min_per_second() / 1e9 *
                 static_cast<double>(budget.window_ns()) / worker_count),
        requests_(budget.window_ns()),
        spent_(budget.window_ns()) {}

  // A request begins.
  void OnRequest(int64_t now_ns) { requests_.Add(now_ns); }

  // Takes a further attempt out of the budget. Returns false, and takes
  // nothing, if there is none left.
  bool TakeToken(int64_t now_ns) {
    const auto spent = static_cast<double>(spent_.AtMost(now_ns) + 1);
    const auto requests = static_cast<double>(requests_.AtLeast(now_ns));
    if (spent > ratio_ * requests + minimum_) return false;
    spent_.Add(now_ns);
    return true;
  }

 private:
  const double ratio_;
  const double minimum_;
  SlidingCount requests_;
  SlidingCount spent_;
};

// How an attempt ended, for policies that learn from it. One that the caller
// gave up says nothing, unless it was answered nevertheless.
enum class AttemptEnd { kSucceeded, kFailed, kGivenUp };

// Refuses attempts to one server while that fails:
//
//   closed ──failures──▶ open ──time──▶ half open ──success──▶ closed
//                          ▲                │
//                          └────failure─────┘
//
// Half open, it lets one attempt at a time through, the probe. Attempts that
// were sent before it opened say nothing from then on, not even once it is
// closed again.
class CircuitBreaker {
 public:
  struct Pass {
    enum class Kind { kRefused, kAllowed, kProbe };

    Kind kind = Kind::kAllowed;
    int64_t opened_before = 0;  // how often it had opened
  };

  explicit CircuitBreaker(const CircuitBreakerPolicy& policy)
      : policy_(policy),
        ended_(policy.window_ns()),
        failed_(policy.window_ns()) {}

  // Whether Enter() would not refuse an attempt.
  bool MayEnter(int64_t now_ns) const {
    return !is_open_ || (!has_probe_ && now_ns >= half_open_at_ns_);
  }

  // An attempt is to be sent; unless it is refused, OnEnd() follows with what
  // this returned.
  Pass Enter(int64_t now_ns);

  // Returns whether this has opened the circuit breaker.
  bool OnEnd(int64_t now_ns, Pass pass, AttemptEnd end);

 private:
  bool OnProbeEnd(int64_t now_ns, AttemptEnd end);
  void Open(int64_t now_ns);

  CircuitBreakerPolicy policy_;
  bool is_open_ = false;  // or half open
  bool has_probe_ = false;
  int64_t opened_count_ = 0;
  int64_t half_open_at_ns_ = 0;
  SlidingCount ended_;
  SlidingCount failed_;
};

// Limits the attempts of an RPC that one worker has in flight.
//
// "aimd": limit += 1 / limit after a success, limit *= backoff_ratio after a
// failure. (Chiu and Jain, "Analysis of the Increase and Decrease Algorithms
// for Congestion Avoidance", 1989.)
//
// "gradient": for each batch of successes, as many as the limit but 10 to 100,
// with `recent` the mean of their times and `least` the least such
// mean so far,
//   gradient = clamp(2 * least / recent, 0.5, 1)
//   next = limit * gradient + sqrt(limit)
// A limit that grows becomes `next`; one that shrinks moves a fifth of the way.
// If n attempts at a server are served at once and the others queue there, it
// settles where limit = 2 n + sqrt(limit): the queue is as long as what is
// served, and sqrt(limit). A failed attempt counts as a batch with
// next = limit / 2. The least time is that of an unloaded server only if the
// limit begins low enough. (This is GradientLimit of
// github.com/Netflix/concurrency-limits, without its probes for a new least
// time, and without a least headroom of 4.)
//
// After a failure, neither shrinks again for as many ends as were in flight:
// these attempts were sent before it, and would let the limit collapse. (TCP
// halves its window once per round trip for the same reason.)
//
// Both grow only while at least half of the limit is in use: an idle caller
// learns nothing about what its servers can take.
class ConcurrencyLimit {
 public:
  // A worker's limits are its even shares of the policy's, at least 1 each.
  ConcurrencyLimit(const ConcurrencyLimitPolicy& policy, int worker,
                   int worker_count);

  bool has_room() const { return in_flight_ < limit(); }
  int64_t limit() const { return static_cast<int64_t>(limit_); }

  // The limit of all workers together, if the others' are like this one.
  int64_t of_all_workers() const {
    return limit() * all_shares_ / first_share_;
  }

  void OnStart() { ++in_flight_; }

  // time_ns: from send to answer.
  void OnEnd(AttemptEnd end, int64_t time_ns);

 private:
  void OnSuccess(int64_t time_ns, bool is_used);
  void OnFailure();
  void EndBatch(bool is_used);
  void MoveTo(double next);
  void Clamp();

  const bool is_aimd_;
  const bool is_gradient_;
  const double backoff_ratio_;
  // Of the limit where it begins, and this worker's part of it and of the
  // range.
  const int64_t all_shares_;
  const int64_t first_share_;
  const double least_;
  const double most_;
  double limit_;
  int64_t in_flight_ = 0;
  int64_t sent_before_ = 0;  // in flight, sent before the last failure
  int64_t batch_count_ = 0;
  double batch_ns_ = 0;
  double least_ns_ = std::numeric_limits<double>::infinity();
};

// Returns the pause before a retry; the first one is number 1. The kinds of
// jitter are those of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015.
int64_t BackoffNs(const RetryPolicy& policy, int retry, absl::BitGenRef random);

// The time after which a hedge follows: fixed, or a percentile of the times of
// requests' first attempts so far. An attempt that is given up counts with the
// time until then. Without those, and with the hedges that won instead, a delay
// would leave out what is longer than itself, and so become shorter and
// shorter. With them, the percentile is the share of the requests that need no
// hedge.
//
// The percentile is computed again when the number of times has grown by a
// thirty-second, so that this costs little per attempt.
class HedgeDelay {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kFirstTimes = 100;

  explicit HedgeDelay(const HedgingPolicy& policy)
      : quantile_(policy.percentile() / 100),
        next_count_(kFirstTimes),
        delay_ns_(policy.has_percentile() ? kNever : policy.delay_ns()) {}

  // The first attempt of a request succeeded, or was given up, after this time.
  void OnFirstEnd(int64_t time_ns) {
    if (quantile_ == 0) return;
    times_ns_.Record(time_ns);
    const auto count = static_cast<int64_t>(times_ns_.count());
    if (count < next_count_) return;
    delay_ns_ = times_ns_.ValueAtQuantile(quantile_);
    next_count_ = count + std::max<int64_t>(1, count / 32);
  }

  // kNever until enough times are known.
  int64_t delay_ns() const { return delay_ns_; }

 private:
  const double quantile_;  // 0: fixed
  int64_t next_count_;     // of times, when to compute the percentile again
  int64_t delay_ns_;
  stats::LogHistogram times_ns_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_ATTEMPTS_H_
