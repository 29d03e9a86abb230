// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_SERVER_LINK_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_SERVER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/products/libfabric/link.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"

namespace distbench::libfabric {

class ServerLink;

// A request from its arrival to its reply.
struct LibfabricRequest : protocol::ServerCall {
  ServerLink* link = nullptr;
  uint64_t call_id = 0;
  std::string trace_bytes;  // the memory of trace_context
};

// A server's end of a link: expects the client's proof, then requests. Used by
// its worker's thread.
class ServerLink final : public Link {
 public:
  // The client's hello has arrived. The link counts among `greetings` while it
  // awaits the proof. All arguments but the hello must outlive this.
  ServerLink(LinkContext& context, const Introduction& client,
             base::ObjectPool<LibfabricRequest>& requests, size_t& greetings);
  ~ServerLink() override { EndGreeting(); }

  // Sends a request's reply if the link still goes on, and returns the request
  // to the pool.
  void Reply(LibfabricRequest& request);

  // Ends the link.
  void Close();

  bool awaits_proof() const { return greeting_.has_value(); }
  // Ends the link if it still awaits the proof at that time, when it should
  // not.
  void TimeOut(int64_t now_ns);

  // Whether nothing refers to the link any more.
  bool is_dead() const { return !has_begun() && pending_requests_ == 0; }

 private:
  void OnMessage(MessageKind kind, absl::string_view content, int64_t read_ns,
                 protocol::TransportEvents* events) override;
  void OnFrameSent() override { --unanswered_; }
  bool IsInUse() const override { return unanswered_ > 0; }
  int64_t patience_ns() const override;
  void OnBroken(const std::string& reason) override;

  bool Greet(absl::string_view part);
  void EndGreeting();
  void OnProof(absl::string_view proof);
  protocol::StreamError OnRequest(const protocol::FrameHeader& frame,
                                  absl::string_view head, int64_t read_ns,
                                  protocol::TransportEvents& events);

  const bool reports_times_;
  const int64_t proof_due_ns_;
  base::ObjectPool<LibfabricRequest>& requests_;
  size_t& greetings_;
  std::optional<protocol::Greeting> greeting_;  // until it is over
  int64_t pending_requests_ = 0;                // without a Reply()
  int64_t unanswered_ = 0;                      // whose reply was not sent
  protocol::FrameDecoder decoder_{protocol::FrameKind::kRequest};
  protocol::HeadReader<payload::RequestHeader> heads_;
};

// The server side of one worker. Used by its thread.
class LinkServer {
 public:
  explicit LinkServer(LinkContext& context) : context_(context) {}

  // Takes a client's hello; drops it if it makes no sense or if there are too
  // many.
  void OnHello(absl::string_view content);

  // As Transport::Reply().
  static void Reply(protocol::ServerCall* call);

  // Call this about once a second: ends links whose clients do not complete
  // their greeting, and destroys those that have ended.
  void Work(int64_t now_ns);

  // Ends all links, including those that clients begin later.
  void Close();

 private:
  // So that strangers cannot fill the memory.
  static constexpr size_t kMaxGreetings = 4096;

  LinkContext& context_;
  base::ObjectPool<LibfabricRequest> requests_;
  size_t greetings_ = 0;
  std::vector<std::unique_ptr<ServerLink>> links_;
  bool closed_ = false;
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_SERVER_LINK_H_
