// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_DECORATORS_TESTING_FAKE_DRIVER_H_
#define DISTBENCH_PROTOCOL_DECORATORS_TESTING_FAKE_DRIVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Sends nothing. Records what reaches a driver, and delivers what tests set.
class FakeTransport final : public Transport {
 public:
  bool Start(ClientCall* call) override {
    if (is_full) return false;
    peers.push_back(call->peer);
    in_flight.push_back(call);
    return true;
  }
  void Reply(ServerCall* call) override { replied.push_back(call); }

  // Ends all calls in flight with `error`, and delivers `requests`.
  // Others may borrow turns through `lent` afterwards.
  void Poll(int64_t, TransportEvents& events) override {
    lent = &events;
    for (ClientCall* call : std::exchange(in_flight, {})) {
      call->error = error;
      events.OnDone(call);
    }
    for (ServerCall* call : std::exchange(requests, {})) {
      events.OnRequest(call);
    }
  }
  void Wake() override { ++wake_count; }
  void RunTurnOrWake() override { ++turn_count; }
  bool Cancel(ClientCall& call) override {
    cancelled.push_back(&call);
    return true;
  }
  void CancelCalls() override { ++cancel_count; }
  int64_t BreakConnections() override { return 3; }
  // For comparison only.
  EventQueue* grpc_queue() override {
    return reinterpret_cast<EventQueue*>(this);
  }

  bool is_full = false;
  std::string error;
  std::vector<ServerCall*> requests;

  std::vector<int> peers;  // peers of the started calls
  std::vector<ClientCall*> in_flight;
  std::vector<ClientCall*> cancelled;
  std::vector<ServerCall*> replied;
  TransportEvents* lent = nullptr;
  int wake_count = 0;
  int turn_count = 0;
  int cancel_count = 0;
};

class FakeDriver final : public ProtocolDriver {
 public:
  absl::StatusOr<std::string> Listen(int worker_count) override {
    for (int i = 0; i < worker_count; ++i) {
      transports.push_back(std::make_unique<FakeTransport>());
    }
    return "fake";
  }
  Transport& transport(int worker) override { return *transports[worker]; }
  absl::Status Connect(const std::vector<Peer>& peers, absl::Time) override {
    for (const Peer& peer : peers) addresses.push_back(peer.addresses[0]);
    return absl::OkStatus();
  }
  void Shutdown() override { is_shut_down = true; }
  std::vector<DriverCounter> Counters() const override {
    return {{"fake_counter", 5}};
  }

  std::vector<std::unique_ptr<FakeTransport>> transports;
  std::vector<std::string> addresses;  // the addresses passed to Connect()
  bool is_shut_down = false;
};

// Records the events that it receives. Lends turns if tests say so.
class NotedEvents final : public TransportEvents {
 public:
  bool LendsTurns() const override { return lends_turns; }
  int64_t EndBorrowedTurn() override {
    ++borrowed_turns;
    return kNextDueNs;
  }
  void OnDone(ClientCall* call) override {
    done.push_back(call);
    peers.push_back(call->peer);
  }
  void OnRequest(ServerCall* call) override { requests.push_back(call); }

  static constexpr int64_t kNextDueNs = 77;

  bool lends_turns = false;
  int borrowed_turns = 0;
  std::vector<ClientCall*> done;
  std::vector<int> peers;  // peers of those calls when they ended
  std::vector<ServerCall*> requests;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DECORATORS_TESTING_FAKE_DRIVER_H_
