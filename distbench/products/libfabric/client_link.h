// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_CLIENT_LINK_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_CLIENT_LINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/libfabric/link.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"

namespace distbench::libfabric {

// A client's end of a link to a worker of a server. It greets the server, and
// does so again after a loss, with the rules and delays of DialledConnection
// (tcp/dialled_connection.h), in whose place StreamClient uses it.
class ClientLink final : public Link,
                         public protocol::CallOwner,
                         public protocol::AgendaItem {
 public:
  using Calls = protocol::CallTable<ClientLink>;
  using Context = LinkContext;
  using Listener = protocol::ClientListener<ClientLink>;

  // A request's other fields take less than the rest of kMaxHeadBytes.
  static constexpr size_t kMaxTraceBytes = protocol::kMaxHeadBytes - 256;

  // The target's name is the address of a server (wire.h), which has been
  // checked; its other fields are not used. Begins to greet the server.
  ClientLink(LinkContext& context, protocol::DialTarget target, Calls& calls,
             Listener& listener);

  const std::string& name() const { return name_; }
  bool is_up() const { return is_open(); }
  // Why the last greeting failed; empty if it has not.
  const std::string& problem() const { return problem_; }

  // Returns whether the link accepts no more calls for now.
  bool is_full() const {
    return queued_bytes() >= max_queued_bytes_ || unanswered_ >= kMaxUnanswered;
  }

  // Sends a request or queues it. Sets the call's sent_bytes, and its sent_ns
  // when the request is handed to the provider.
  void Send(protocol::ClientCall& call, uint64_t call_id,
            const payload::RequestHeader& header);

  // Call this before a call ends without a reply. The server is not told.
  void Abandon(protocol::ClientCall& call);

  // Sets the sent_ns of calls that have not been sent.
  void StampCalls() { StampUnsent(); }

  // Greets the server again even if there are no calls.
  void RequestDial();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const { return is_dialing() ? due_ns_ : INT64_MAX; }
  void Work(int64_t now_ns);

  // Ends the link for good.
  void Close();

 private:
  void OnMessage(MessageKind kind, absl::string_view content, int64_t read_ns,
                 protocol::TransportEvents* events) override;
  void OnFrameSent() override { ++unanswered_; }
  bool IsInUse() const override { return unanswered_ > 0; }
  int64_t patience_ns() const override;
  void OnBroken(const std::string& reason) override;

  void BeginGreeting(int64_t now_ns);
  void OnWelcome(absl::string_view content);
  protocol::StreamError OnReply(const protocol::FrameHeader& frame,
                                absl::string_view head, int64_t read_ns,
                                protocol::TransportEvents& events);
  void GoDown(const std::string& error);
  bool is_dialing() const { return is_requested_ || greeting_.has_value(); }

  const std::string name_;
  const std::string server_;  // the address of the server's endpoint
  const protocol::FrameKind reply_kind_;
  const int64_t max_queued_bytes_;
  Calls& calls_;
  Listener& listener_;
  std::optional<protocol::Greeting> greeting_;  // while it goes on
  std::string problem_;
  int64_t unanswered_ = 0;  // requests that were sent

  bool is_requested_ = false;
  int64_t due_ns_ = 0;  // not before; while greeting: not after
  protocol::RetryDelay delay_;
  bool was_up_ = false;

  protocol::FrameDecoder decoder_;
  protocol::HeadReader<payload::ResponseHeader> heads_;
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_CLIENT_LINK_H_
