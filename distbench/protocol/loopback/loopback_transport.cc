#include "distbench/protocol/loopback/loopback_transport.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace distbench::protocol {
namespace {

// The serving_position of a call to which the engine has no reply, or one that
// nobody gets: it was refused, or BreakConnections() has broken it.
constexpr size_t kNotServed = static_cast<size_t>(-1);

// Most events per Poll(), so that the worker's timers get their turn.
constexpr int kBatch = 256;

constexpr char kCancelled[] = "CANCELLED: the caller gave up";
constexpr char kShutDown[] = "UNAVAILABLE: the instance has shut down";
constexpr char kBroken[] = "UNAVAILABLE: the server has broken the connection";

// Removes a call from a list in which each knows its position.
void RemoveCall(size_t LoopbackCall::*position, LoopbackCall* call,
                std::vector<LoopbackCall*>& list) {
  list[call->*position] = list.back();
  list[call->*position]->*position = call->*position;
  list.pop_back();
}

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
  client->transport_state = call;
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
  if (call->serving_position != kNotServed) {
    RemoveCall(&LoopbackCall::serving_position, call, serving_);
  }
  call->error.assign(server->reply_error.data(), server->reply_error.size());
  if (measures_time_parts_) {
    call->queue_ns = server->received_ns - call->arrived_ns;
    call->handler_ns = clock_.MonotonicNs() - server->received_ns;
  }
  SendBack(call);
}

void LoopbackTransport::Poll(int64_t deadline_ns, TransportEvents& events) {
  is_broken_ = false;
  if (DeliverSome(events)) return;
  Sleep(deadline_ns);
  DeliverSome(events);
}

bool LoopbackTransport::Cancel(ClientCall& call) {
  // Null if it has ended already.
  auto* const active = static_cast<LoopbackCall*>(call.transport_state);
  if (active != nullptr) Abandon(active, kCancelled);
  return true;
}

void LoopbackTransport::CancelCalls() {
  while (!active_.empty()) Abandon(active_.back(), kCancelled);
  streams_.CancelAll();
}

int64_t LoopbackTransport::BreakConnections() {
  for (LoopbackCall* call : serving_) {
    call->serving_position = kNotServed;
    Notify(call);
  }
  serving_.clear();
  // Of what was not delivered, only replies to this transport's calls are left.
  LoopbackCall* kept = nullptr;
  LoopbackCall** end = &kept;
  for (LoopbackCall* call :
       {std::exchange(arrived_, nullptr), inbox_.TakeAll()}) {
    while (call != nullptr) {
      LoopbackCall* const next = std::exchange(call->next, nullptr);
      if (call->is_reply) {
        *end = call;
        end = &call->next;
      } else {
        Refuse(call, kBroken);
      }
      call = next;
    }
  }
  arrived_ = kept;
  streams_.Break();
  const int64_t count =
      std::exchange(is_broken_, true) ? 0 : connection_count_.load();
  broken_connections_ += count;
  return count;
}

// Tells the client that its call is broken. The call itself comes back later.
void LoopbackTransport::Notify(LoopbackCall* broken) {
  const std::shared_ptr<LoopbackTransport> origin = broken->origin;
  auto notice = std::make_unique<LoopbackCall>();
  notice->is_reply = true;
  notice->broken = broken;
  notice->generation = broken->generation;
  origin->Accept(notice.release());
  if (origin->detached_) origin->DropAll(origin->inbox_.TakeAll());
}

void LoopbackTransport::TakeNotice(LoopbackCall* notice) {
  const std::unique_ptr<LoopbackCall> owned(notice);
  LoopbackCall* const call = owned->broken;
  if (call->client != nullptr && call->generation == owned->generation) {
    Abandon(call, kBroken);
  }
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
  for (const Target& target : peers_) {
    for (const auto& server : target.servers) --server->connection_count_;
  }
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
    } else if (call->broken != nullptr) {
      TakeNotice(call);
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
  delivering_.clear();
  delivering_.swap(cancelled_);
  for (const auto& [client, error] : delivering_) {
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
    Refuse(call, kShutDown);
    return;
  }
  call->serving_position = serving_.size();
  serving_.push_back(call);
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
  if (!is_awaited) {
    if (call->serving_position != kNotServed) ++late_replies_;
  } else {
    RemoveCall(&LoopbackCall::position, call, active_);
    client->transport_state = nullptr;
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
  RemoveCall(&LoopbackCall::position, call, active_);
  call->client->transport_state = nullptr;
  cancelled_.push_back({call->client, error});
  call->client = nullptr;
}

void LoopbackTransport::ExpireDeadlines() {
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t due_ns = deadlines_.top().due_ns;
  const bool nothing_left = arrived_ == nullptr && inbox_.empty();
  if (now_ns < due_ns ||
      !late_deadlines_.MayJudge(due_ns, now_ns, nothing_left)) {
    return;
  }
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
      Refuse(call, kShutDown);
    }
    call = next;
  }
}

// Ends calls for which nobody will poll.
void LoopbackTransport::DropAll(LoopbackCall* calls) {
  while (calls != nullptr) {
    LoopbackCall* call = calls;
    calls = call->next;
    if (call->broken != nullptr) {
      delete call;
    } else if (call->is_reply) {
      call->origin.reset();
    } else {
      Refuse(call, kShutDown);
    }
  }
}

void LoopbackTransport::Refuse(LoopbackCall* call, const char* error) {
  call->serving_position = kNotServed;
  call->error = error;
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

}  // namespace distbench::protocol
