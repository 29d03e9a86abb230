#include "distbench/protocol/decorators/double_barrel.h"

#include <utility>
#include <vector>

#include "distbench/protocol/decorators/decorator.h"

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

}  // namespace distbench::protocol
