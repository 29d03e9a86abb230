// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Drivers that add something to another driver: two of it, or a count of its
// RPCs.

#ifndef DISTBENCH_PROTOCOL_DECORATORS_DECORATORS_H_
#define DISTBENCH_PROTOCOL_DECORATORS_DECORATORS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Base classes of decorators: a driver and a transport that pass everything on
// to another one. A decorator overrides what it changes.

class TransportDecorator : public Transport, protected TransportEvents {
 public:
  // `inner` must outlive this.
  explicit TransportDecorator(Transport& inner) : inner_(inner) {}

  bool Start(ClientCall* call) override { return inner_.Start(call); }
  void Reply(ServerCall* call) override { inner_.Reply(call); }
  void Poll(int64_t deadline_ns, TransportEvents& events) override {
    events_ = &events;
    inner_.Poll(deadline_ns, *this);
  }
  void Wake() override { inner_.Wake(); }
  void RunTurnOrWake() override { inner_.RunTurnOrWake(); }
  bool Cancel(ClientCall& call) override { return inner_.Cancel(call); }
  void CancelCalls() override { inner_.CancelCalls(); }
  int64_t BreakConnections() override { return inner_.BreakConnections(); }
  EventQueue* grpc_queue() override { return inner_.grpc_queue(); }

 protected:
  // TransportEvents of the inner transport. A turn that is lent ends with the
  // worker, too: otherwise the threads of the inner driver could not borrow
  // one, and each RPC would wait for the worker's thread.
  bool LendsTurns() const override { return events_->LendsTurns(); }
  int64_t EndBorrowedTurn() override { return events_->EndBorrowedTurn(); }
  void OnDone(ClientCall* call) override { events_->OnDone(call); }
  void OnRequest(ServerCall* call) override { events_->OnRequest(call); }

 private:
  Transport& inner_;
  TransportEvents* events_ = nullptr;  // since the first Poll()
};

// TransportType must derive from TransportDecorator and be constructible from
// the inner transport alone.
template <typename TransportType>
class DriverDecorator : public ProtocolDriver {
 public:
  explicit DriverDecorator(std::unique_ptr<ProtocolDriver> inner)
      : inner_(std::move(inner)) {}

  absl::StatusOr<std::string> Listen(int worker_count) override {
    absl::StatusOr<std::string> address = inner_->Listen(worker_count);
    if (!address.ok()) return address;
    for (int i = 0; i < worker_count; ++i) {
      transports_.push_back(
          std::make_unique<TransportType>(inner_->transport(i)));
    }
    return address;
  }

  Transport& transport(int worker) override { return *transports_[worker]; }

  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline) override {
    return inner_->Connect(peers, deadline);
  }

  void AbortConnect() override { inner_->AbortConnect(); }

  void Shutdown() override { inner_->Shutdown(); }

  std::vector<DriverCounter> Counters() const override {
    return inner_->Counters();
  }

  std::vector<ConnectionReadings> NetworkReadings() const override {
    return inner_->NetworkReadings();
  }

 protected:
  const std::vector<std::unique_ptr<TransportType>>& transports() const {
    return transports_;
  }

 private:
  const std::unique_ptr<ProtocolDriver> inner_;
  std::vector<std::unique_ptr<TransportType>> transports_;
};

// Sends RPCs through two clients of `inner` alternately: every transport has
// two connections to each peer, and alternates between them separately for each
// peer. The server side is that of `inner`. Shows the effect of a second
// connection.
//
// While this driver has a call, the call's `peer` may differ. It is restored
// before OnDone().
std::unique_ptr<ProtocolDriver> MakeDoubleBarrelDriver(
    std::unique_ptr<ProtocolDriver> inner);

// Counts all RPCs that pass through `inner`, including those of the warm-up and
// those that are cancelled. Counters():
//
//   rpcs_sent           handed to the driver, as a client
//   rpcs_answered       sent RPCs that succeeded
//   rpcs_failed         sent RPCs that failed; answered and failed add up to
//                       sent once nothing is in flight
//   requests_received   delivered by the driver, as a server
//   replies_sent        handed to the driver
std::unique_ptr<ProtocolDriver> MakeRpcCounterDriver(
    std::unique_ptr<ProtocolDriver> inner);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DECORATORS_DECORATORS_H_
