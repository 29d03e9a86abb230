// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/decorators/decorators.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace distbench::protocol {
namespace {

// Maps peer n of N to the inner driver's peers n and n + N.
class DoubleBarrelTransport final : public TransportDecorator {
 public:
  using TransportDecorator::TransportDecorator;

  // Must be called before the first Start().
  void SetPeerCount(int count) { use_second_.assign(count, false); }

  bool Start(ClientCall* call) override {
    const int peer = call->peer;
    const bool second = use_second_[peer];
    if (second) call->peer += peer_count();
    if (!TransportDecorator::Start(call)) {
      call->peer = peer;
      return false;
    }
    use_second_[peer] = !second;
    return true;
  }

 private:
  int peer_count() const { return static_cast<int>(use_second_.size()); }

  void OnDone(ClientCall* call) override {
    if (call->peer >= peer_count()) call->peer -= peer_count();
    TransportDecorator::OnDone(call);
  }

  std::vector<bool> use_second_;  // by peer: whether the second is next
};

class DoubleBarrelDriver final : public DriverDecorator<DoubleBarrelTransport> {
 public:
  using DriverDecorator::DriverDecorator;

  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline) override {
    std::vector<Peer> twice = peers;
    twice.insert(twice.end(), peers.begin(), peers.end());
    for (const auto& transport : transports()) {
      transport->SetPeerCount(static_cast<int>(peers.size()));
    }
    return DriverDecorator::Connect(twice, deadline);
  }
};

}  // namespace

std::unique_ptr<ProtocolDriver> MakeDoubleBarrelDriver(
    std::unique_ptr<ProtocolDriver> inner) {
  return std::make_unique<DoubleBarrelDriver>(std::move(inner));
}

namespace {

// A counter that one thread at a time increments and any thread reads.
class Counter {
 public:
  void Increment() { value_.store(value() + 1, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

class CountingTransport final : public TransportDecorator {
 public:
  using TransportDecorator::TransportDecorator;

  bool Start(ClientCall* call) override {
    if (!TransportDecorator::Start(call)) return false;
    sent.Increment();
    return true;
  }

  void Reply(ServerCall* call) override {
    replied.Increment();
    TransportDecorator::Reply(call);
  }

  Counter sent;
  Counter answered;
  Counter failed;
  Counter received;
  Counter replied;

 private:
  void OnDone(ClientCall* call) override {
    (call->error.empty() ? answered : failed).Increment();
    TransportDecorator::OnDone(call);
  }

  void OnRequest(ServerCall* call) override {
    received.Increment();
    TransportDecorator::OnRequest(call);
  }
};

class RpcCounterDriver final : public DriverDecorator<CountingTransport> {
 public:
  using DriverDecorator::DriverDecorator;

  std::vector<DriverCounter> Counters() const override {
    std::vector<DriverCounter> counters = DriverDecorator::Counters();
    counters.push_back({"rpcs_sent", Sum(&CountingTransport::sent)});
    counters.push_back({"rpcs_answered", Sum(&CountingTransport::answered)});
    counters.push_back({"rpcs_failed", Sum(&CountingTransport::failed)});
    counters.push_back(
        {"requests_received", Sum(&CountingTransport::received)});
    counters.push_back({"replies_sent", Sum(&CountingTransport::replied)});
    return counters;
  }

 private:
  int64_t Sum(Counter CountingTransport::*counter) const {
    int64_t sum = 0;
    for (const auto& transport : transports()) {
      sum += (transport.get()->*counter).value();
    }
    return sum;
  }
};

}  // namespace

std::unique_ptr<ProtocolDriver> MakeRpcCounterDriver(
    std::unique_ptr<ProtocolDriver> inner) {
  return std::make_unique<RpcCounterDriver>(std::move(inner));
}

}  // namespace distbench::protocol
