// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/rpc_sender.h"

#include <algorithm>
#include <string>

#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/policies.h"
#include "distbench/engine/worker/worker_context.h"

// Functions on the path of every RPC that only this file calls are inline: a
// call would cost as much as the function does.

namespace distbench::engine {
namespace {

const config::SizePlan& RequestSize(const config::RpcPlan& rpc,
                                    const config::ActionPlan& action) {
  return action.request_override.has_value() ? *action.request_override
                                             : rpc.request;
}

}  // namespace

RpcSender::RpcSender(WorkerContext& context, Streams& streams,
                     Policies& policies)
    : context_(context),
      streams_(streams),
      policies_(policies),
      measures_time_parts_(context.engine.plan().measures_time_parts),
      measures_wire_time_(context.engine.plan().wire_time.share > 0),
      waiting_(context.engine.routes().count()) {}

bool RpcSender::Send(Iteration& iteration) {
  const config::ActionPlan& action = *iteration.action->plan;
  const config::RpcPlan& rpc = context_.engine.plan().rpcs[action.target];
  RpcTargets& targets = context_.engine.targets(action.target);
  const absl::Span<const int> chosen =
      targets.fanout->Select(context_.random, scratch_);
  if (chosen.empty()) return false;
  const config::SizePlan& request = RequestSize(rpc, action);
  const bool by_instance = request.size_table != config::kNone &&
                           rpc.joint_distribution == config::kNone;
  const Sizes sizes = DrawSizes(rpc, action);
  const bool traced = IsTraced(rpc, iteration);
  iteration.outstanding = static_cast<int>(chosen.size());
  iteration.repeats = Repeats(rpc, *targets.fanout, *iteration.action);
  in_flight_ += iteration.outstanding;
  if (iteration.intended_ns != 0) {
    WorkerProgress::Add(context_.progress.offered, iteration.outstanding);
  }
  if (iteration.held_back && !iteration.warmup) {
    context_.recorder.CountHeldBack(action.target, iteration.outstanding);
  }
  WorkerProgress::Add(context_.progress.in_flight, iteration.outstanding);
  for (size_t i = 0; i < chosen.size(); ++i) {
    RpcCall* call = calls_.Get();
    call->iteration = &iteration;
    call->intended_ns = iteration.intended_ns;
    call->sent = true;
    protocol::ClientCall& client = call->client;
    client.peer = targets.routes[chosen[i]];
    client.rpc_index = action.target;
    client.server_instance = targets.fanout->candidates()[chosen[i]];
    client.warmup = iteration.warmup;
    client.request_bytes =
        by_instance ? SizeOf(request, client.server_instance, context_)
                    : sizes.request_bytes;
    client.response_bytes = sizes.response_bytes;
    client.processing_ns = 0;
    client.deadline_ns =
        rpc.deadline_ns == config::kUnlimited
            ? 0
            : base::SaturatingAdd(context_.now_ns, rpc.deadline_ns);
    client.trace_context = {};
    if (traced) SetTrace(*call, static_cast<int64_t>(i));
    if (!rpc.is_special) [[likely]] {
      Submit(call);
    } else if (rpc.stream.has_value()) {
      streams_.Open(*call, request);
    } else {
      policies_.Open(*call);
    }
  }
  return true;
}

Iteration* RpcSender::OnDone(protocol::ClientCall& client) {
  RpcCall& call = RpcCall::Of(client);
  Iteration* iteration = call.iteration;
  std::optional<SampleReservoir>& limited = iteration->action->list->samples;
  const Sample& sample = End(call, /*kept=*/!limited.has_value());
  if (sample.open_loop) {
    WorkerProgress::Add(context_.progress.open_loop_ended, 1);
  }
  if (limited.has_value()) limited->Add(sample);
  if (!iteration->repeats) calls_.Put(&call);
  return --iteration->outstanding == 0 ? iteration : nullptr;
}

RpcCall& RpcSender::NewCall(Iteration& iteration) {
  RpcCall& call = *calls_.Get();
  call.kind = RpcCall::Kind::kReplayed;
  call.iteration = &iteration;
  call.sent = true;
  call.client.warmup = iteration.warmup;
  call.client.trace_context = {};
  ++in_flight_;
  WorkerProgress::Add(context_.progress.in_flight, 1);
  return call;
}

const Sample& RpcSender::End(RpcCall& call) {
  const Sample& sample = End(call, /*kept=*/false);
  call.kind = RpcCall::Kind::kOrdinary;
  calls_.Put(&call);
  return sample;
}

void RpcSender::EndLate(RpcCall& call, bool kept) {
  End(call, kept);
  CountEnded(call);
  calls_.Put(&call);
}

void RpcSender::Drop(RpcCall& call) {
  --in_flight_;
  WorkerProgress::Add(context_.progress.in_flight, -1);
  CountEnded(call);
  calls_.Put(&call);
}

// An offered RPC is out of the way.
void RpcSender::CountEnded(const RpcCall& call) {
  if (call.intended_ns == 0) return;
  WorkerProgress::Add(context_.progress.open_loop_ended, 1);
}

bool RpcSender::Withdraw(RpcCall& call) {
  if (!call.waits) return false;
  const int peer = call.client.peer;
  StopWaiting(call, waiting_[peer]);
  if (waiting_[peer].empty()) std::erase(waiting_peers_, peer);
  return true;
}

// Transports do not know the call yet, so that its deadline is not theirs.
protocol::ClientCall& RpcSender::Expire(Timer& timer) {
  RpcCall& call = *static_cast<RpcCall*>(timer.owner);
  Withdraw(call);
  EndUnsent(call,
            "DEADLINE_EXCEEDED: not sent in time, because the send queue to "
            "the server was full");
  return call.client;
}

void RpcSender::EndUnsent(RpcCall& call, absl::string_view error) {
  protocol::ClientCall& client = call.client;
  client.sent_ns = client.done_ns = context_.now_ns;
  client.sent_bytes = client.received_bytes = 0;
  client.responding_instance = protocol::kNoInstance;
  client.error = error;
  call.sent = false;
}

inline const Sample& RpcSender::End(RpcCall& call, bool kept) {
  Sample& sample = context_.recorder.AddSample(kept);
  Measure(call, sample);
  --in_flight_;
  WorkerProgress::Add(context_.progress.in_flight, -1);
  WorkerProgress::Add(sample.error == 0 ? context_.progress.succeeded
                                        : context_.progress.failed,
                      1);
  call.iteration->failed |= sample.error != 0;
  return sample;
}

bool RpcSender::SendWaiting() {
  size_t still_waiting = 0;
  for (size_t i = 0; i < waiting_peers_.size(); ++i) {
    const int peer = waiting_peers_[i];
    base::LinkedQueue<RpcCall>& queue = waiting_[peer];
    while (RpcCall* const call = queue.front()) {
      // A transport that has started a call may have changed its peer.
      if (!context_.transport.Start(&call->client)) break;
      StopWaiting(*call, queue);
    }
    if (!queue.empty()) waiting_peers_[still_waiting++] = peer;
  }
  waiting_peers_.resize(still_waiting);
  return still_waiting > 0;
}

// A joint distribution yields both sizes; the request then carries the response
// size.
inline RpcSender::Sizes RpcSender::DrawSizes(const config::RpcPlan& rpc,
                                             const config::ActionPlan& action) {
  if (rpc.joint_distribution != config::kNone) {
    const config::Distribution::Values drawn =
        context_.engine.plan().distributions[rpc.joint_distribution].Draw(
            context_.random);
    return {.request_bytes = drawn[0], .response_bytes = drawn[1]};
  }
  return {.request_bytes = DrawSize(RequestSize(rpc, action), context_),
          .response_bytes = protocol::kServerDecides};
}

// Whether every iteration is an RPC like the previous one, as long as nothing
// of it is traced.
bool RpcSender::Repeats(const config::RpcPlan& rpc, const Fanout& fanout,
                        const ActionRun& action) {
  const config::SizePlan& request = RequestSize(rpc, *action.plan);
  return !rpc.is_special && !action.plan->iterations.open_loop &&
         action.plan->record == config::kNone && fanout.always_all() &&
         fanout.candidates().size() == 1 &&
         rpc.joint_distribution == config::kNone &&
         request.distribution == config::kNone &&
         rpc.deadline_ns == config::kUnlimited && rpc.tracing_interval == 0 &&
         action.list->trace_context.empty();
}

inline bool RpcSender::IsTraced(const config::RpcPlan& rpc,
                                const Iteration& iteration) const {
  return !iteration.action->list->trace_context.empty() ||
         (rpc.tracing_interval > 0 &&
          iteration.number % rpc.tracing_interval == 0);
}

void RpcSender::SetTrace(RpcCall& call, int64_t fanout_index) {
  const Iteration& iteration = *call.iteration;
  const ActionRun& action = *iteration.action;
  hop_.Clear();
  hop_.add_engine_ids(context_.engine.instance());
  hop_.add_actionlist_indices(action.list->list);
  hop_.add_actionlist_invocations(action.list->invocation);
  hop_.add_action_indices(action.position);
  hop_.add_action_iterations(iteration.number);
  hop_.add_fanout_index(fanout_index);
  // Who parses one message after another gets the lists of both in one.
  call.trace_context = action.list->trace_context;
  hop_.AppendToString(&call.trace_context);
  call.client.trace_context = call.trace_context;
}

// Queues the call until the send queue of its peer has room, or the call's
// deadline passes.
void RpcSender::Wait(RpcCall* call) {
  const int peer = call->client.peer;
  call->waits = true;
  if (waiting_[peer].empty()) waiting_peers_.push_back(peer);
  waiting_[peer].Push(*call);
  if (call->client.deadline_ns == 0) return;
  call->timer.kind = Timer::Kind::kSendQueue;
  call->timer.owner = call;
  context_.timers.Arm(call->timer, call->client.deadline_ns);
}

void RpcSender::StopWaiting(RpcCall& call, base::LinkedQueue<RpcCall>& queue) {
  call.waits = false;
  queue.Remove(call);
  context_.timers.Cancel(call.timer);
}

// Returns null if no call waits.
RpcCall* RpcSender::PopWaiting() {
  if (waiting_peers_.empty()) return nullptr;
  base::LinkedQueue<RpcCall>& queue = waiting_[waiting_peers_.back()];
  RpcCall* const call = queue.front();
  StopWaiting(*call, queue);
  if (queue.empty()) waiting_peers_.pop_back();
  return call;
}

// Sets all members of the sample of a finished RPC.
inline void RpcSender::Measure(RpcCall& call, Sample& sample) {
  protocol::ClientCall& client = call.client;
  sample.rpc = client.rpc_index;
  const Routes& routes = context_.engine.routes();
  sample.peer = routes.CountedUnder(client.peer, client.responding_instance);
  sample.through_channel = routes.IsChannel(client.peer);
  sample.request_bytes = static_cast<uint32_t>(client.sent_bytes);
  sample.response_bytes = client.received_bytes;
  sample.sent_ns = client.sent_ns;
  sample.service_time_ns = client.done_ns - client.sent_ns;
  sample.sent = call.sent;
  sample.open_loop = call.intended_ns != 0;
  sample.lateness_ns = sample.open_loop ? client.sent_ns - call.intended_ns : 0;
  sample.warmup = call.iteration->warmup;
  sample.error = static_cast<int16_t>(
      client.error.empty() ? 0 : context_.recorder.InternError(client.error));
  sample.trace = client.trace_context.empty()
                     ? -1
                     : context_.recorder.AddTrace(client.trace_context);
  if (measures_time_parts_) MeasureTimeParts(client, sample);
  if (measures_wire_time_) MeasureWireTime(client, sample);
}

// The call may be used again, by what takes no stamps.
void RpcSender::MeasureWireTime(protocol::ClientCall& client, Sample& sample) {
  const int64_t wire_ns = std::exchange(client.wire_ns, protocol::kNotReported);
  sample.wire_ns =
      client.error.empty() ? static_cast<float>(wire_ns) : Sample::kNotReported;
  sample.wire_shared = client.wire_shared;
}

// The server's times may be anything, because they come from a peer.
void RpcSender::MeasureTimeParts(const protocol::ClientCall& client,
                                 Sample& sample) {
  constexpr int64_t kMostNs =
      stats::LogHistogram::kMaxValue + 1;  // an overflow
  sample.server_queue_ns = sample.server_handler_ns = Sample::kNotReported;
  if (!client.error.empty() || client.server_queue_ns < 0 ||
      client.server_handler_ns < 0) {
    return;
  }
  sample.server_queue_ns =
      static_cast<float>(std::min(client.server_queue_ns, kMostNs));
  sample.server_handler_ns =
      static_cast<float>(std::min(client.server_handler_ns, kMostNs));
}

}  // namespace distbench::engine
