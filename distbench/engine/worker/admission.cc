// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/admission.h"

#include <algorithm>

#include "distbench/engine/policies/attempts.h"

namespace distbench::engine {

Admission::Admission(const config::AdmissionPlan& plan, int worker,
                     int worker_count)
    : max_running_(std::max<int64_t>(
          1, ShareOfLimit(plan.max_running, worker, worker_count))),
      max_waiting_(ShareOfLimit(plan.max_waiting, worker, worker_count)),
      refuses_oldest_(plan.refuses_oldest) {}

protocol::ServerCall* Admission::Add(protocol::ServerCall& request,
                                     int64_t running) {
  const int64_t free_places = std::max<int64_t>(0, max_running_ - running);
  protocol::ServerCall* refused = nullptr;
  if (count_ - free_places >= max_waiting_) {
    ++totals_.count(AdmissionLog::kRefusedCountFieldNumber);
    // There may be no older one, if nothing can wait.
    if (!refuses_oldest_ || first_ == nullptr) return &request;
    refused = TakeFirst();
  }
  request.engine_state = nullptr;
  if (first_ == nullptr) {
    first_ = &request;
  } else {
    last_->engine_state = &request;
  }
  last_ = &request;
  ++count_;
  return refused;
}

protocol::ServerCall* Admission::Next(int64_t running, int64_t now_ns) {
  if (!has_next(running)) return nullptr;
  protocol::ServerCall* const request = TakeFirst();
  ++totals_.count(AdmissionLog::kAdmittedCountFieldNumber);
  totals_.histogram(AdmissionLog::kWaitNsFieldNumber)
      .Record(now_ns - request->received_ns);
  return request;
}

protocol::ServerCall* Admission::Drop() {
  return first_ == nullptr ? nullptr : TakeFirst();
}

protocol::ServerCall* Admission::TakeFirst() {
  protocol::ServerCall* const request = first_;
  first_ = static_cast<protocol::ServerCall*>(request->engine_state);
  --count_;
  return request;
}

}  // namespace distbench::engine
