// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The requests that wait on one worker until fewer action lists run, and the
// choice of those that are refused.
//
//   request ──▶ Add ──▶ refused, if too many wait
//                └────▶ waits ──▶ Next ──▶ its list runs
//
// A place that becomes free is taken in the worker's next turn. Until then, the
// request that will take it does not count as waiting.

#ifndef DISTBENCH_ENGINE_WORKER_ADMISSION_H_
#define DISTBENCH_ENGINE_WORKER_ADMISSION_H_

#include <cstdint>

#include "distbench/config/plan/plan.h"
#include "distbench/protocol/driver.h"
#include "distbench/results/message_sums.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// First come, first served. Waiting requests are linked through their
// engine_state, so that nothing is allocated.
class Admission {
 public:
  // Takes the worker's share of the limits. A worker runs at least one request,
  // so that workers in excess of max_running raise the instance's limit.
  Admission(const config::AdmissionPlan& plan, int worker, int worker_count);

  // Lets a request wait, while the lists of `running` others run. Returns the
  // request to refuse, which may be the same; null if there is none.
  protocol::ServerCall* Add(protocol::ServerCall& request, int64_t running);

  // Removes and returns the request whose list is to run now; null if none
  // waits or enough run.
  protocol::ServerCall* Next(int64_t running, int64_t now_ns);
  bool has_next(int64_t running) const {
    return first_ != nullptr && running < max_running_;
  }

  // Removes and returns a request that will not run; null if none waits.
  protocol::ServerCall* Drop();

  // What it has done.
  const results::TallyOf<AdmissionLog>& totals() const { return totals_; }

 private:
  protocol::ServerCall* TakeFirst();

  const int64_t max_running_;
  const int64_t max_waiting_;
  const bool refuses_oldest_;
  protocol::ServerCall* first_ = nullptr;
  protocol::ServerCall* last_ = nullptr;
  int64_t count_ = 0;
  results::TallyOf<AdmissionLog> totals_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_ADMISSION_H_
