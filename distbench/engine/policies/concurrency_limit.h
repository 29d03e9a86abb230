#ifndef DISTBENCH_ENGINE_POLICIES_CONCURRENCY_LIMIT_H_
#define DISTBENCH_ENGINE_POLICIES_CONCURRENCY_LIMIT_H_

#include <cstdint>
#include <limits>

#include "distbench/config/plan/policy_plan.h"
#include "distbench/engine/policies/circuit_breaker.h"

namespace distbench::engine {

// Limits the attempts of an RPC that one worker has in flight.
//
// kAimd: limit += 1 / limit after a success, limit *= backoff_ratio after a
// failure. (Chiu and Jain, "Analysis of the Increase and Decrease Algorithms
// for Congestion Avoidance", 1989.)
//
// kGradient: for each batch of successes, as many as the limit but 10 to 100,
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
  // A worker's limits are its even shares of the plan's, at least 1 each.
  ConcurrencyLimit(const config::ConcurrencyLimitPlan& plan, int worker,
                   int worker_count);

  bool has_room() const { return in_flight_ < limit(); }
  int64_t limit() const { return static_cast<int64_t>(limit_); }

  // The limit of all workers together, if the others' are like this one.
  int64_t of_all_workers() const { return limit() * all_shares_ / plan_.limit; }

  void OnStart() { ++in_flight_; }

  // time_ns: from send to answer.
  void OnEnd(AttemptEnd end, int64_t time_ns);

 private:
  void OnSuccess(int64_t time_ns, bool is_used);
  void OnFailure();
  void EndBatch(bool is_used);
  void MoveTo(double next);
  void Clamp();

  const int64_t all_shares_;           // of the limit where it begins
  config::ConcurrencyLimitPlan plan_;  // with this worker's shares
  double limit_;
  int64_t in_flight_ = 0;
  int64_t sent_before_ = 0;  // in flight, sent before the last failure
  int64_t batch_count_ = 0;
  double batch_ns_ = 0;
  double least_ns_ = std::numeric_limits<double>::infinity();
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_CONCURRENCY_LIMIT_H_
