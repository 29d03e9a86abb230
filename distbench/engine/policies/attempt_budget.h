#ifndef DISTBENCH_ENGINE_POLICIES_ATTEMPT_BUDGET_H_
#define DISTBENCH_ENGINE_POLICIES_ATTEMPT_BUDGET_H_

#include <cstdint>

#include "distbench/config/plan/policy_plan.h"
#include "distbench/engine/policies/sliding_count.h"

namespace distbench::engine {

// Says whether further attempts may be sent. Whenever it allows one, the window
// that ends then has at most
//   ratio * requests + min_per_second * window
// of them. One worker's part: its own requests, and an even share of the
// minimum.
class AttemptBudget {
 public:
  AttemptBudget(const config::RetryBudgetPlan& plan, int worker_count)
      : ratio_(plan.ratio),
        minimum_(plan.min_per_second / 1e9 *
                 static_cast<double>(plan.window_ns) / worker_count),
        requests_(plan.window_ns),
        spent_(plan.window_ns) {}

  // A request begins.
  void OnRequest(int64_t now_ns) { requests_.Add(now_ns); }

  // Takes a further attempt out of the budget. Returns false, and takes
  // nothing, if there is none left.
  bool Take(int64_t now_ns) {
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

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_ATTEMPT_BUDGET_H_
