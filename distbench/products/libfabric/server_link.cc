// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/server_link.h"

#include <utility>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::libfabric {
namespace {

// A reply's other fields take less than the rest of kMaxHeadBytes.
constexpr size_t kMaxErrorBytes = protocol::kMaxHeadBytes - 256;

// Clients may be silent for long; this finds those that are gone.
constexpr int64_t kPatienceNs = 10'000'000'000;

}  // namespace

ServerLink::ServerLink(LinkContext& context, const Introduction& client,
                       base::ObjectPool<LibfabricRequest>& requests,
                       size_t& greetings)
    : Link(context),
      reports_times_(context.settings.measures_time_parts),
      proof_due_ns_(base::NowNs() + context.settings.answer_timeout_ns),
      requests_(requests),
      greetings_(greetings) {
  StartLink(context.endpoint->Insert(client.address));
  Know(client);
  NoteHello();
  greeting_.emplace(protocol::Greeting::Side::kServer, context.test_nonce);
  ++greetings_;
  if (Greet(client.greeting)) {
    SendControl(MessageKind::kWelcome,
                EncodeIntroduction({.link = id(),
                                    .receive_bytes = static_cast<uint32_t>(
                                        context.endpoint->receive_bytes()),
                                    .greeting = greeting_->TakeOutput()}));
  }
}

// Takes the client's next part of the greeting. Returns whether it was right.
bool ServerLink::Greet(absl::string_view part) {
  const protocol::StreamError error = part.size() == greeting_->missing_bytes()
                                          ? greeting_->Receive(part)
                                          : protocol::StreamError::kNoHello;
  if (error != protocol::StreamError::kNone) Break(error);
  return error == protocol::StreamError::kNone;
}

void ServerLink::EndGreeting() {
  if (!awaits_proof()) return;
  greeting_.reset();
  --greetings_;
}

void ServerLink::TimeOut(int64_t now_ns) {
  if (awaits_proof() && has_begun() && now_ns >= proof_due_ns_) {
    Break(protocol::StreamError::kHelloTimeout);
  }
}

void ServerLink::OnMessage(MessageKind kind, absl::string_view content,
                           int64_t read_ns, protocol::TransportEvents* events) {
  NoteLife(kind, read_ns);
  if (kind == MessageKind::kGoodbye)
    return Break(protocol::StreamError::kClosedByPeer);
  // Servers say it. Held requests must not follow it: it may be delivered when
  // they cannot.
  if (kind == MessageKind::kWelcome)
    return Break(protocol::StreamError::kProtocolViolated);
  if (kind == MessageKind::kProof && awaits_proof()) return OnProof(content);
  if (kind != MessageKind::kFrames) return;
  if (!is_open()) return Break(protocol::StreamError::kNoHello);
  const protocol::StreamError error = decoder_.Decode(
      content, [&](const protocol::FrameHeader& frame, absl::string_view head) {
        return OnRequest(frame, head, read_ns, *events);
      });
  if (error != protocol::StreamError::kNone) Break(error);
}

void ServerLink::OnProof(absl::string_view proof) {
  if (!Greet(proof)) return;
  EndGreeting();
  Open();
}

protocol::StreamError ServerLink::OnRequest(const protocol::FrameHeader& frame,
                                            absl::string_view head,
                                            int64_t read_ns,
                                            protocol::TransportEvents& events) {
  const payload::RequestHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return protocol::StreamError::kMalformedMessage;
  if (unanswered_ > kMaxUnanswered) {
    Break(protocol::StreamError::kSocketFailed,
          "too many requests without a reply");
    return protocol::StreamError::kSocketFailed;
  }
  LibfabricRequest* request = requests_.Get();
  auto& call = static_cast<protocol::ServerCall&>(*request);
  call = {.request_bytes = frame.message_bytes, .received_ns = read_ns};
  protocol::TakeHeader(*header, call);
  protocol::KeepTrace(request->trace_bytes, call);
  request->link = this;
  request->call_id = frame.call_id;
  ++pending_requests_;
  ++unanswered_;
  events.OnRequest(request);
  return protocol::StreamError::kNone;
}

void ServerLink::Reply(LibfabricRequest& request) {
  --pending_requests_;
  if (is_open()) {
    QueuedFrame* const frame =
        MakeFrame(reports_times_ ? protocol::FrameKind::kTimedReply
                                 : protocol::FrameKind::kReply,
                  request.call_id, protocol::HeaderOf(request, kMaxErrorBytes),
                  request.reply_bytes);
    if (reports_times_) {
      frame->queue_ns = request.begun_ns - request.received_ns;
      frame->begun_ns = request.begun_ns;
    }
    Push(frame);
  }
  requests_.Put(&request);
}

void ServerLink::Close() {
  SayGoodbye();
  EndGreeting();
  End();
}

int64_t ServerLink::patience_ns() const { return kPatienceNs; }

void ServerLink::OnBroken(const std::string& /*reason*/) {
  EndGreeting();
  End();
}

void LinkServer::OnHello(absl::string_view content) {
  Introduction client;
  const bool is_hello = !closed_ && DecodeIntroduction(content, client);
  if (!is_hello || greetings_ >= kMaxGreetings) {
    ++context_.counters.stray_messages;
    return;
  }
  links_.push_back(
      std::make_unique<ServerLink>(context_, client, requests_, greetings_));
}

void LinkServer::Reply(protocol::ServerCall* call) {
  auto* const request = static_cast<LibfabricRequest*>(call);
  request->link->Reply(*request);
}

void LinkServer::Work(int64_t now_ns) {
  for (const auto& link : links_) link->TimeOut(now_ns);
  std::erase_if(links_, [](const auto& link) { return link->is_dead(); });
}

void LinkServer::Close() {
  closed_ = true;
  for (const auto& link : links_) link->Close();
}

}  // namespace distbench::libfabric
