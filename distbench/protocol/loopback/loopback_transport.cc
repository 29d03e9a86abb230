// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/loopback/loopback_transport.h"

#include <memory>
#include <utility>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::protocol {
namespace {

// The serving_position of a call to which the engine has no reply, or one that
// nobody gets: it was refused, or BreakConnections() has broken it.
constexpr size_t kNotServed = static_cast<size_t>(-1);

// Most events per Poll(), so that the worker's timers get their turn.
constexpr int kBatch = 256;

// A server's notice that it has broken a call, which comes back later.
struct BrokenNotice final : LoopbackMail {
  explicit BrokenNotice(uint64_t broken_id) : id(broken_id) {
    kind = Kind::kNotice;
  }
  void Return() override { delete this; }

  const uint64_t id;
};

}  // namespace

void LoopbackCall::Return() {
  if (is_request()) {
    Refuse(kLoopbackShutDown);
  } else {
    origin.reset();
  }
}

void LoopbackCall::Refuse(const char* reason) {
  serving_position = kNotServed;
  error = reason;
  reply_bytes = 0;
  SendBack();
}

void LoopbackCall::SendBack() {
  kind = Kind::kReply;
  // Once accepted, the call may be reused at any time.
  const std::shared_ptr<LoopbackMailbox> keep = origin;
  keep->Accept(this);
}

void LoopbackTransport::AddPeer(LoopbackPeer peer) {
  for (const auto& server : peer.servers()) ++server->connection_count;
  peers_.push_back(std::move(peer));
}

bool LoopbackTransport::Start(ClientCall* client) {
  LoopbackPeer& peer = peers_[client->peer];
  if (peer.out == kMaxCallsPerPeer) return false;
  ++peer.out;
  LoopbackCall* call = pool_.Get();
  call->peer = client->peer;
  call->id = calls_.Start(client, &peer);
  call->origin = shared_from_this();
  call->kind = LoopbackMail::Kind::kRequest;
  call->error.clear();
  call->trace_bytes.assign(client->trace_context.data(),
                           client->trace_context.size());
  client->sent_bytes =
      payload::LayOutMessage(HeaderOf(*client), client->request_bytes)
          .total_bytes();
  static_cast<ServerCall&>(*call) = {.rpc_index = client->rpc_index,
                                     .server_instance = client->server_instance,
                                     .warmup = client->warmup,
                                     .request_bytes = client->sent_bytes,
                                     .response_bytes = client->response_bytes,
                                     .processing_ns = client->processing_ns,
                                     .trace_context = call->trace_bytes,
                                     .reply_instance = kNoInstance};
  client->sent_ns = clock_.MonotonicNs();
  if (measures_time_parts_) call->arrived_ns = client->sent_ns;
  peer.Choose().Accept(call);
  return true;
}

void LoopbackTransport::Reply(ServerCall* server) {
  LoopbackCall* const call = static_cast<LoopbackCall*>(server);
  if (call->serving_position != kNotServed) {
    serving_.back()->serving_position = call->serving_position;
    serving_[call->serving_position] = serving_.back();
    serving_.pop_back();
  }
  call->error.assign(server->reply_error.data(), server->reply_error.size());
  const payload::ResponseHeader header = {
      .server_instance = server->reply_instance, .error_message = call->error};
  call->reply_bytes =
      payload::LayOutMessage(header, server->reply_bytes).total_bytes();
  if (measures_time_parts_) {
    call->queue_ns = server->begun_ns - call->arrived_ns;
    call->handler_ns = clock_.MonotonicNs() - server->begun_ns;
  }
  call->SendBack();
}

void LoopbackTransport::Poll(int64_t deadline_ns, TransportEvents& events) {
  is_broken_ = false;
  if (DeliverSome(events)) return;
  const int64_t wait_ns =
      std::min(deadline_ns, next_due_ns()) - clock_.MonotonicNs();
  if (wait_ns > 0) Sleep(wait_ns);
  DeliverSome(events);
}

int64_t LoopbackTransport::BreakConnections() {
  for (LoopbackCall* call : serving_) {
    call->serving_position = kNotServed;
    // The call may be back, and the client's transport gone, before this ends.
    const std::shared_ptr<LoopbackMailbox> origin = call->origin;
    origin->Accept(std::make_unique<BrokenNotice>(call->id).release());
  }
  serving_.clear();
  // Of what was not delivered, calls of other transports go back.
  LoopbackMail* kept = nullptr;
  LoopbackMail** end = &kept;
  for (LoopbackMail* mail : {std::exchange(arrived_, nullptr), TakeMail()}) {
    while (mail != nullptr) {
      LoopbackMail* const next = std::exchange(mail->next, nullptr);
      if (mail->kind == LoopbackMail::Kind::kRequest) {
        static_cast<LoopbackCall*>(mail)->Refuse(kLoopbackBroken);
      } else {
        *end = mail;
        end = &mail->next;
      }
      mail = next;
    }
  }
  arrived_ = kept;
  streams_.Break();
  const int64_t count =
      std::exchange(is_broken_, true) ? 0 : connection_count.load();
  broken_connections_ += count;
  return count;
}

void LoopbackTransport::Detach() {
  while (arrived_ != nullptr) {
    std::exchange(arrived_, arrived_->next)->Return();
  }
  DetachMailbox();
  streams_.Detach();
  for (const LoopbackPeer& peer : peers_) {
    for (const auto& server : peer.servers()) --server->connection_count;
  }
  peers_.clear();
}

// Returns whether anything was delivered.
bool LoopbackTransport::DeliverSome(TransportEvents& events) {
  if (next_due_ns() != DeadlineQueue::kNever) ExpireCalls();
  bool delivered = calls_.DeliverEnded(
      clock_, [&](ClientCall* call) { events.OnDone(call); });
  delivered |= streams_.DeliverEnded(events.stream_events());
  for (int count = 0; count < kBatch;) {
    if (arrived_ == nullptr) arrived_ = TakeMail();
    if (arrived_ == nullptr) break;
    LoopbackMail* const mail = std::exchange(arrived_, arrived_->next);
    // Late replies are bounded by the number of calls that were out.
    if (!DeliverMail(*mail, events)) continue;
    ++count;
    delivered = true;
  }
  return delivered;
}

// Returns false for a reply that nobody awaits.
bool LoopbackTransport::DeliverMail(LoopbackMail& mail,
                                    TransportEvents& events) {
  switch (mail.kind) {
    case LoopbackMail::Kind::kRequest:
      DeliverRequest(static_cast<LoopbackCall&>(mail), events);
      break;
    case LoopbackMail::Kind::kReply:
      return DeliverReply(static_cast<LoopbackCall&>(mail), events);
    case LoopbackMail::Kind::kNotice: {
      Calls::Entry* entry;
      if (calls_.Find(static_cast<BrokenNotice&>(mail).id, entry) ==
          Calls::Match::kFound) {
        calls_.GiveUp(*entry, kLoopbackBroken);
      }
      mail.Return();
      break;
    }
    case LoopbackMail::Kind::kStreamRequest:
    case LoopbackMail::Kind::kStreamOther:
      streams_.Deliver(mail, events.stream_events());
      break;
  }
  return true;
}

void LoopbackTransport::DeliverRequest(LoopbackCall& call,
                                       TransportEvents& events) {
  if (is_closed()) {
    call.Refuse(kLoopbackShutDown);
    return;
  }
  call.serving_position = serving_.size();
  serving_.push_back(&call);
  call.received_ns = clock_.MonotonicNs();
  events.OnRequest(&call);
}

// Returns whether the engine was told; it is not told of a cancelled call.
bool LoopbackTransport::DeliverReply(LoopbackCall& call,
                                     TransportEvents& events) {
  call.origin.reset();
  --peers_[call.peer].out;
  Calls::Entry* entry;
  const bool is_awaited = calls_.Find(call.id, entry) == Calls::Match::kFound;
  if (!is_awaited) {
    if (call.serving_position != kNotServed) ++late_replies_;
  } else {
    ClientCall& client = *entry->call;
    calls_.Remove(*entry);
    client.done_ns = clock_.MonotonicNs();
    client.received_bytes = call.reply_bytes;
    client.responding_instance = call.reply_instance;
    client.error = call.error;
    if (measures_time_parts_) {
      client.server_queue_ns = call.queue_ns;
      client.server_handler_ns = call.handler_ns;
    }
    events.OnDone(&client);
  }
  pool_.Put(&call);
  return is_awaited;
}

void LoopbackTransport::ExpireCalls() {
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t due_ns = next_due_ns();
  const bool nothing_left = arrived_ == nullptr && !has_mail();
  if (now_ns < due_ns ||
      !late_deadlines_.MayJudge(due_ns, now_ns, nothing_left)) {
    return;
  }
  calls_.Expire(now_ns);
  streams_.Expire(now_ns);
}

}  // namespace distbench::protocol
