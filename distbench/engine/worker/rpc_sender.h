// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_RPC_SENDER_H_
#define DISTBENCH_ENGINE_WORKER_RPC_SENDER_H_

#include <cstdint>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/base/linked_queue.h"
#include "distbench/base/object_pool.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/streams.h"
#include "distbench/engine/worker/worker_context.h"
#include "proto/data_plane.pb.h"

namespace distbench::engine {

class Policies;

// The client side of one worker: turns iterations into RPCs, and finished RPCs
// into measurements.
class RpcSender {
 public:
  // All arguments must outlive this.
  RpcSender(WorkerContext& context, Streams& streams, Policies& policies);

  // Sends the RPCs of an iteration to the targets of its fanout. Returns false
  // if there are none.
  bool Send(Iteration& iteration);

  // Records an RPC that has ended. Returns its iteration if this was its last
  // RPC, otherwise null. If the iteration repeats, the caller must then call
  // SendAgain() or LetGo().
  Iteration* OnDone(protocol::ClientCall& call);

  // Sends the RPC again for an iteration that has become the next one of its
  // action.
  void SendAgain(protocol::ClientCall& client) {
    RpcCall& call = RpcCall::Of(client);
    call.intended_ns = call.iteration->intended_ns;
    client.warmup = call.iteration->warmup;
    call.iteration->outstanding = 1;
    ++in_flight_;
    WorkerProgress::Add(context_.progress.in_flight, 1);
    Submit(&call);
  }
  void LetGo(protocol::ClientCall& client) { calls_.Put(&RpcCall::Of(client)); }

  // Sends calls that waited for a full send queue. Returns whether any still
  // have to wait.
  bool SendWaiting();
  bool must_wait_for_queue() const { return !waiting_peers_.empty(); }

  // For RPCs outside an iteration's fanout: the caller takes a call, fills it
  // in and submits it. End() then records its end instead of OnDone(), and
  // returns its sample for the caller to keep; it is valid until another call
  // ends.
  RpcCall& NewCall(Iteration& iteration);
  void SetTrace(RpcCall& call, int64_t fanout_index);
  void Submit(RpcCall* call) {
    const bool others_wait = !waiting_[call->client.peer].empty();
    if (others_wait || !context_.transport.Start(&call->client)) Wait(call);
  }
  const Sample& End(RpcCall& call);

  // For requests with a policy that end after their iteration: the first
  // records its end, of which a sample may be kept, the second nothing.
  void EndLate(RpcCall& call, bool kept);
  void Drop(RpcCall& call);

  // Takes back a call that was submitted and still waits for a full send queue.
  // Returns false if it does not wait.
  bool Withdraw(RpcCall& call);

  // A timer of kind kSendQueue is due: takes back the call whose deadline has
  // passed before its send queue had room. Its end is up to the caller.
  protocol::ClientCall& Expire(Timer& timer);

  // Ends every RPC that waits or is in flight: waiting ones by calls of
  // end(ClientCall&), those in flight as they always end.
  template <typename EndCall>
  void CancelAll(EndCall end) {
    context_.transport.CancelCalls();
    while (RpcCall* call = PopWaiting()) {
      EndUnsent(*call, "CANCELLED: not sent before the traffic's end");
      end(call->client);
    }
  }

  // RPCs that have started and not ended.
  int64_t in_flight() const { return in_flight_; }

 private:
  struct Sizes {
    int64_t request_bytes;
    int64_t response_bytes;
  };

  Sizes DrawSizes(const config::RpcPlan& rpc, const config::ActionPlan& action);
  static bool Repeats(const config::RpcPlan& rpc, const Fanout& fanout,
                      const ActionRun& action);
  bool IsTraced(const config::RpcPlan& rpc, const Iteration& iteration) const;
  void Wait(RpcCall* call);
  RpcCall* PopWaiting();
  // `queue` has the call.
  void StopWaiting(RpcCall& call, base::LinkedQueue<RpcCall>& queue);
  void EndUnsent(RpcCall& call, absl::string_view error);
  ABSL_ATTRIBUTE_ALWAYS_INLINE const Sample& End(RpcCall& call, bool kept);
  void CountEnded(const RpcCall& call);
  void Measure(RpcCall& call, Sample& sample);
  static void MeasureTimeParts(const protocol::ClientCall& client,
                               Sample& sample);
  static void MeasureWireTime(protocol::ClientCall& client, Sample& sample);

  WorkerContext& context_;
  Streams& streams_;
  Policies& policies_;
  const bool measures_time_parts_;
  const bool measures_wire_time_;
  base::ObjectPool<RpcCall> calls_;
  std::vector<int> scratch_;
  std::vector<base::LinkedQueue<RpcCall>> waiting_;  // by peer, in order
  std::vector<int> waiting_peers_;  // those with a non-empty queue
  int64_t in_flight_ = 0;
  TraceContext hop_;  // reuses its memory
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_RPC_SENDER_H_
