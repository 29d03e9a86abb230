// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_LIBFABRIC_TRANSPORT_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_LIBFABRIC_TRANSPORT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "distbench/products/libfabric/client_link.h"
#include "distbench/products/libfabric/endpoint.h"
#include "distbench/products/libfabric/link.h"
#include "distbench/products/libfabric/server_link.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/stream_client.h"

namespace distbench::libfabric {

// One worker's share of the driver: an endpoint with a client side and a server
// side.
//
// The driver's Connect() may have to run the transport's turns, because nobody
// polls yet. Until it is over, whoever runs a turn therefore holds a lock.
class LibfabricTransport final : public protocol::Transport {
 public:
  // For the arguments, see LinkContext.
  LibfabricTransport(const LibfabricSettings& settings,
                     const std::string& test_nonce, size_t worker,
                     LibfabricCounters& counters,
                     std::unique_ptr<Endpoint> endpoint);

  // Call this before anything else. The error, of descriptors that have run
  // out, names the remedy.
  absl::Status Open();

  // The address of the transport's endpoint.
  const std::string& address() const { return context_.endpoint->address(); }

  // For the driver's Connect(), in this order. SetPeers() begins to connect.
  // ContinueConnecting() does a part of it and returns whether it is over,
  // GiveUpConnecting() makes it so, and TakeFailures() says who was not
  // reached. After Settle() only the worker runs turns.
  void SetPeers(std::vector<protocol::StreamPeer> peers);
  bool ContinueConnecting();
  void GiveUpConnecting();
  std::vector<std::string> TakeFailures();
  void Settle() { is_settled_.store(true, std::memory_order_release); }

  // Makes the worker end all links. Any thread may call it.
  void BeginShutdown();
  // Waits until the worker has done so and delivered its last events.
  void WaitUntilDrained() { drained_.WaitForNotification(); }

  // Transport.
  bool Start(protocol::ClientCall* call) override {
    return client_.Start(call);
  }
  void Reply(protocol::ServerCall* call) override { LinkServer::Reply(call); }
  void Poll(int64_t deadline_ns, protocol::TransportEvents& events) override;
  void Wake() override;
  bool Cancel(protocol::ClientCall& call) override {
    client_.Cancel(call);
    return true;
  }
  void CancelCalls() override { client_.CancelAll(); }

 private:
  // Work that other threads have left for the worker.
  struct Inbox {
    std::optional<std::vector<protocol::StreamPeer>> peers;
    bool give_up = false;
    bool shutdown = false;
  };

  // Hands the endpoint's events to links, and to the engine if it listens.
  class Dispatcher final : public Endpoint::Events {
   public:
    Dispatcher(LibfabricTransport& transport, protocol::TransportEvents* events)
        : transport_(transport), events_(events) {}
    void OnMessage(absl::string_view message, int64_t read_ns) override;
    void OnSent(uint64_t owner, int error) override;

   private:
    LibfabricTransport& transport_;
    protocol::TransportEvents* const events_;
  };

  // A message that waits until its events can be delivered.
  struct Deferred {
    std::string message;
    int64_t read_ns;
  };

  template <typename Change>
  void Post(const Change& change);
  void TakeInbox();
  void NoteConnecting(bool give_up);
  bool Turn(protocol::TransportEvents* events);
  void PollOnce(int64_t deadline_ns, protocol::TransportEvents& events);
  void SettleLinks();
  bool Work(protocol::TransportEvents* events);
  void Judge(int64_t now_ns);
  int64_t next_due_ns() const;
  bool Spin(int64_t until_ns, protocol::TransportEvents& events);
  void Sleep(int64_t deadline_ns, protocol::TransportEvents& events);
  void Shutdown();

  // Watches the endpoint's descriptors; what is there, the next turn reads.
  class Doorbell final : public protocol::Poller::Watcher {
    void OnReady(uint32_t, protocol::TransportEvents&) override {}
  };

  LinkContext context_;
  protocol::StreamClient<ClientLink> client_{context_};
  LinkServer server_{context_};
  Doorbell doorbell_;
  protocol::Poller poller_{/*spin_ns=*/0};
  // Polling is calls of libfabric that take a lock: 4 % of a server's time with
  // messages of 32 and 64 KiB, whose server took 1.07 to 1.20 times the CPU
  // time of bench/bare_libfabric. That sleeps 11 times as often.
  protocol::BriefWaits brief_waits_;
  std::vector<Link*> settling_;
  std::vector<Deferred> deferred_;
  int64_t next_check_ns_ = 0;  // of the links
  protocol::LateDeadlines late_deadlines_;
  bool nothing_left_ = true;  // the last turn found nothing to read

  absl::Mutex turn_;  // see above
  std::atomic<bool> is_settled_ = false;
  std::atomic<bool> is_connecting_ = false;
  std::atomic<bool> is_woken_ = false;

  std::atomic<bool> has_mail_ = false;
  absl::Mutex mutex_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> failures_ ABSL_GUARDED_BY(mutex_);

  bool shutting_down_ = false;
  absl::Notification drained_;
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_LIBFABRIC_TRANSPORT_H_
