#include "distbench/protocol/loopback/loopback_transport.h"

#include <algorithm>

namespace distbench {
namespace {

// Most events per Poll(), so that the worker's timers get their turn.
constexpr int kBatch = 256;

// Returns the call whose server side this is.
LoopbackCall* FromServerCall(ServerCall* call) {
  return reinterpret_cast<LoopbackCall*>(call);
}
static_assert(offsetof(LoopbackCall, server) == 0);

}  // namespace

bool LoopbackTransport::Start(ClientCall* client) {
  Target& target = peers_[client->peer];
  if (target.out == kMaxCallsPerPeer) return false;
  ++target.out;
  LoopbackCall* call = calls_.Get();
  call->peer = client->peer;
  call->client = client;
  call->origin = shared_from_this();
  call->generation += 1;
  call->position = active_.size();
  active_.push_back(call);
  call->is_reply = false;
  call->error.clear();
  call->trace_context.assign(client->trace_context.data(),
                             client->trace_context.size());
  ServerCall& server = call->server;
  server.rpc_index = client->rpc_index;
  server.server_instance = client->server_instance;
  server.warmup = client->warmup;
  server.request_bytes = client->request_bytes;
  server.response_bytes = client->response_bytes;
  server.processing_ns = client->processing_ns;
  server.trace_context = call->trace_context;
  server.reply_bytes = 0;
  server.reply_instance = kNoInstance;
  server.reply_error = {};
  client->sent_bytes = client->request_bytes;
  client->sent_ns = clock_.MonotonicNs();
  if (measures_time_parts_) call->arrived_ns = client->sent_ns;
  if (client->deadline_ns != 0) {
    deadlines_.push({client->deadline_ns, call->generation, call});
  }
  LoopbackTransport& peer = Choose(target);
  peer.Accept(call);
  if (peer.closed_) peer.RefuseAll();
  return true;
}

void LoopbackTransport::Reply(ServerCall* server) {
  LoopbackCall* call = FromServerCall(server);
  call->error.assign(server->reply_error.data(), server->reply_error.size());
  if (measures_time_parts_) {
    call->queue_ns = server->received_ns - call->arrived_ns;
    call->handler_ns = clock_.MonotonicNs() - server->received_ns;
  }
  SendBack(call);
}

void LoopbackTransport::Poll(int64_t deadline_ns, TransportEvents& events) {
  if (DeliverSome(events)) return;
  Sleep(deadline_ns);
  DeliverSome(events);
}

void LoopbackTransport::CancelCalls() {
  while (!active_.empty()) {
    Abandon(active_.back(), "CANCELLED: the caller gave up");
  }
  streams_.CancelAll();
}

void LoopbackTransport::Close() {
  closed_ = true;
  RefuseAll();
  streams_.Close();
}

void LoopbackTransport::Detach() {
  detached_ = true;
  DropAll(arrived_);
  arrived_ = nullptr;
  DropAll(inbox_.TakeAll());
  streams_.Detach();
  peers_.clear();
}

LoopbackTransport& LoopbackTransport::Choose(Target& target) {
  const size_t count = target.servers.size();
  if (count == 1) return *target.servers[0];
  const size_t first = target.next;
  if (target.round_robin) target.next = (first + 1) % count;
  for (size_t i = first; i < first + count; ++i) {
    LoopbackTransport& server = *target.servers[i % count];
    if (!server.closed_) return server;
  }
  return *target.servers[first];
}

// Returns whether anything was delivered.
bool LoopbackTransport::DeliverSome(TransportEvents& events) {
  if (!deadlines_.empty()) ExpireDeadlines();
  bool delivered = DeliverCancelled(events);
  delivered |= streams_.Deliver(events);
  for (int count = 0; count < kBatch;) {
    if (arrived_ == nullptr) arrived_ = inbox_.TakeAll();
    if (arrived_ == nullptr) break;
    LoopbackCall* call = arrived_;
    arrived_ = call->next;
    if (!call->is_reply) {
      DeliverRequest(call, events);
    } else if (!DeliverReply(call, events)) {
      continue;  // bounded by the number of calls that were out
    }
    ++count;
    delivered = true;
  }
  return delivered;
}

bool LoopbackTransport::DeliverCancelled(TransportEvents& events) {
  if (cancelled_.empty()) return false;
  std::vector<Cancelled> cancelled;
  cancelled.swap(cancelled_);
  for (const auto& [client, error] : cancelled) {
    client->done_ns = clock_.MonotonicNs();
    client->received_bytes = 0;
    client->responding_instance = kNoInstance;
    client->error = error;
    events.OnDone(client);
  }
  return true;
}

void LoopbackTransport::DeliverRequest(LoopbackCall* call,
                                       TransportEvents& events) {
  if (closed_) {
    Refuse(call);
    return;
  }
  call->server.received_ns = clock_.MonotonicNs();
  events.OnRequest(&call->server);
}

// Returns whether the engine was told; it is not told of a cancelled call.
bool LoopbackTransport::DeliverReply(LoopbackCall* call,
                                     TransportEvents& events) {
  call->origin.reset();
  --peers_[call->peer].out;
  ClientCall* client = call->client;
  const bool is_awaited = client != nullptr;
  if (is_awaited) {
    active_[call->position] = active_.back();
    active_[call->position]->position = call->position;
    active_.pop_back();
    client->done_ns = clock_.MonotonicNs();
    client->received_bytes = call->server.reply_bytes;
    client->responding_instance = call->server.reply_instance;
    client->error = call->error;
    if (measures_time_parts_) {
      client->server_queue_ns = call->queue_ns;
      client->server_handler_ns = call->handler_ns;
    }
    events.OnDone(client);
    call->client = nullptr;
  }
  calls_.Put(call);
  return is_awaited;
}

void LoopbackTransport::Sleep(int64_t deadline_ns) {
  if (!deadlines_.empty()) {
    deadline_ns = std::min(deadline_ns, deadlines_.top().due_ns);
  }
  deadline_ns = std::min(deadline_ns, streams_.next_deadline_ns());
  const int64_t wait_ns = deadline_ns - clock_.MonotonicNs();
  if (wait_ns <= 0) return;
  // A push after this line sees that it must wake this thread. The check below
  // sees every earlier push.
  asleep_ = true;
  if (inbox_.empty() && streams_.is_inbox_empty()) wakeup_.Sleep(wait_ns);
  asleep_ = false;
}

// Ends the call for its client. The object stays with the peer until the reply
// arrives.
void LoopbackTransport::Abandon(LoopbackCall* call, const char* error) {
  active_[call->position] = active_.back();
  active_[call->position]->position = call->position;
  active_.pop_back();
  cancelled_.push_back({call->client, error});
  call->client = nullptr;
}

void LoopbackTransport::ExpireDeadlines() {
  const int64_t now_ns = clock_.MonotonicNs();
  while (!deadlines_.empty() && deadlines_.top().due_ns <= now_ns) {
    const Deadline expired = deadlines_.top();
    deadlines_.pop();
    if (expired.call->client != nullptr &&
        expired.call->generation == expired.generation) {
      Abandon(expired.call, "DEADLINE_EXCEEDED: no answer in time");
    }
  }
}

void LoopbackTransport::Accept(LoopbackCall* call) {
  inbox_.Push(call);
  WakeIfAsleep();
}

// Several threads may call this at once: each takes a list of its own.
void LoopbackTransport::RefuseAll() {
  LoopbackCall* call = inbox_.TakeAll();
  while (call != nullptr) {
    LoopbackCall* next = call->next;
    if (call->is_reply) {
      inbox_.Push(call);
    } else {
      Refuse(call);
    }
    call = next;
  }
}

// Ends calls for which nobody will poll.
void LoopbackTransport::DropAll(LoopbackCall* calls) {
  while (calls != nullptr) {
    LoopbackCall* call = calls;
    calls = call->next;
    if (call->is_reply) {
      call->origin.reset();
    } else {
      Refuse(call);
    }
  }
}

void LoopbackTransport::Refuse(LoopbackCall* call) {
  call->error = "UNAVAILABLE: the instance has shut down";
  call->server.reply_bytes = 0;
  SendBack(call);
}

void LoopbackTransport::SendBack(LoopbackCall* call) {
  call->is_reply = true;
  // Once accepted, the call may be reused at any time.
  const std::shared_ptr<LoopbackTransport> origin = call->origin;
  origin->Accept(call);
  if (origin->detached_) origin->DropAll(origin->inbox_.TakeAll());
}

}  // namespace distbench
