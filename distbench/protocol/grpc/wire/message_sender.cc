#include "distbench/protocol/grpc/wire/message_sender.h"

#include <utility>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "glog/logging.h"

namespace distbench::protocol {

void MessageSender::Open(grpc_call* call) {
  call_ = call;
  SendNext();
}

template <typename Header>
int64_t MessageSender::Send(uint64_t sequence, const Header& header,
                            int64_t target_bytes) {
  Message& message = *pool_.Get();
  message.sequence = sequence;
  const int64_t bytes = message.content.Fill(header, target_bytes, sequence);
  if (is_open() && !is_sending()) {
    owner_.OnSend(sequence);
    Start(message);
  } else {
    Queue(message);
  }
  return bytes;
}

template int64_t MessageSender::Send(uint64_t, const payload::RequestHeader&,
                                     int64_t);
template int64_t MessageSender::Send(uint64_t, const payload::ResponseHeader&,
                                     int64_t);

void MessageSender::Queue(Message& message) {
  message.next = nullptr;
  if (first_ == nullptr) {
    first_ = &message;
    blocked_since_ns_ = base::NowNs();
  } else {
    last_->next = &message;
  }
  last_ = &message;
  ++waiting_;
  ++counts_.messages_waited;
}

MessageSender::Message& MessageSender::TakeFirst() {
  Message& message = *std::exchange(first_, first_->next);
  --waiting_;
  if (first_ == nullptr)
    counts_.blocked_ns += base::NowNs() - blocked_since_ns_;
  return message;
}

void MessageSender::SendNext() {
  while (first_ != nullptr) {
    Message& message = TakeFirst();
    const bool is_needed = owner_.OnSend(message.sequence);
    // The last message makes gRPC send those that it holds back.
    if (is_needed || (held_back_ && first_ == nullptr)) return Start(message);
    pool_.Put(&message);
  }
  owner_.OnAllSent();
}

void MessageSender::Start(Message& message) {
  sending_ = &message;
  held_back_ = first_ != nullptr;
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_SEND_MESSAGE;
  operations[0].flags = held_back_ ? GRPC_WRITE_BUFFER_HINT : 0;
  operations[0].data.send_message.send_message = message.content.get();
  operations[1].op = GRPC_OP_SEND_INITIAL_METADATA;
  const int count = std::exchange(metadata_sent_, true) ? 1 : 2;
  CHECK_EQ(grpc_call_start_batch(call_, operations, count,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void MessageSender::OnComplete(bool ok, TransportEvents&) {
  pool_.Put(std::exchange(sending_, nullptr));
  if (!ok) Drop();
  SendNext();
}

void MessageSender::Drop() {
  while (first_ != nullptr) pool_.Put(&TakeFirst());
}

}  // namespace distbench::protocol
