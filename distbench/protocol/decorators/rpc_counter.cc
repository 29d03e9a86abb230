#include "distbench/protocol/decorators/rpc_counter.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "distbench/protocol/decorators/decorator.h"

namespace distbench::protocol {
namespace {

// A counter that one thread increments and any thread reads.
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
