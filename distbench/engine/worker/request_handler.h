// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_
#define DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/worker/admission.h"
#include "distbench/engine/worker/faults.h"
#include "distbench/engine/worker/receive_runner.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/scheduler.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

// The server side of one worker: decides how to handle requests, and answers
// them. Those that stream are handled in Streams.
//
//   OnRequest ──▶ refused, or answered at once or later
//             ──▶ admitted ──▶ its list runs, or waits until fewer run
//                                 │                 └─▶ refused
//                                 └─▶ Respond
class RequestHandler {
 public:
  RequestHandler(WorkerContext& context, Scheduler& scheduler,
                 ReceiveRunner& receive);

  // A request that does not stream has come.
  void OnRequest(protocol::ServerCall& request);

  // Answers the request that `list` handles.
  void Respond(const ListRun& list);

  // Starts the lists of requests that wait, as far as they may run now. Not to
  // be called from inside the scheduler: lists that end at once would be nested
  // in each other.
  void StartAdmitted();
  bool may_start_admitted() const {
    return admission_ != nullptr &&
           admission_->has_next(scheduler_.handlers_in_progress());
  }

  // A delayed answer is due, or everything is stopped.
  void OnReplyDue(Timer& timer);

  // The faults' timer is due. Returns the error of Faults::OnDue().
  absl::Status OnFaultDue();

  // Everything is stopped: ends faults, and refuses requests whose lists do not
  // run.
  void Stop();

  // The number of requests that are not answered yet: their lists run, they
  // wait until fewer do, they are replayed and take their time, or a fault
  // delays the answer. The worker limits it.
  int64_t pending() const { return pending_; }

  // Null if the instance has no faults, or no admission.
  Faults* faults() const { return faults_.get(); }
  const Admission* admission() const { return admission_.get(); }

 private:
  // The answer to a replayed request whose processing time is not over, or one
  // that a fault delays.
  struct DelayedReply {
    protocol::ServerCall* request = nullptr;
    const config::SizePlan* size = nullptr;
    bool by_fault = false;
    Timer timer;
  };

  // How requests of one RPC are handled.
  struct Handling {
    bool is_handled = false;   // by this instance, and does not stream
    bool is_plain = false;     // handled, and no fault affects it now
    int list = config::kNone;  // none: it has no actions
    const config::SizePlan* response = nullptr;
  };

  bool IsKnown(int rpc_index) const {
    return static_cast<size_t>(rpc_index) < handling_.size();
  }
  bool IsHandled(int rpc_index) const {
    return IsKnown(rpc_index) && handling_[rpc_index].is_handled;
  }
  bool IsPlain(int rpc_index) const {
    return IsKnown(rpc_index) && handling_[rpc_index].is_plain;
  }
  bool IsReplay(int rpc_index) const;
  void StampBegin(protocol::ServerCall& request) const;
  int Admit(protocol::ServerCall& request);
  int AdmitDespiteFaults(protocol::ServerCall& request);
  void AnswerReplay(protocol::ServerCall& request);
  void AnswerDespiteFaults(protocol::ServerCall& request,
                           const config::SizePlan& size);
  void AnswerLater(protocol::ServerCall& request, const config::SizePlan& size,
                   int64_t due_ns, bool by_fault);
  void AnswerUnlessStopped(protocol::ServerCall& request,
                           const config::SizePlan& size);
  void Answer(protocol::ServerCall& request, const config::SizePlan& size);
  void Refuse(protocol::ServerCall& request, absl::string_view error);
  void RefuseAdmitted(protocol::ServerCall& request, absl::string_view error);
  void OnFaultsChanged();

  WorkerContext& context_;
  Scheduler& scheduler_;
  ReceiveRunner& receive_;
  const std::unique_ptr<Faults> faults_;        // null: none
  const std::unique_ptr<Admission> admission_;  // null: no limit
  const int number_;                            // this instance's number
  const bool measures_time_parts_;
  std::vector<Handling> handling_;  // by RPC
  base::ObjectPool<DelayedReply> delayed_;
  int64_t pending_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_
