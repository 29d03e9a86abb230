#include "distbench/products/external/calls/external_client.h"

#include <algorithm>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/base/threads.h"

namespace distbench::external {
namespace {

constexpr char kThreadName[] = "external_calls";

// gRPC takes any number of calls, at some kilobytes each. With this many, the
// send queue counts as full.
constexpr size_t kMaxCalls = 1 << 17;

// Calls per delivery: few enough not to starve timers.
constexpr int kMaxDelivered = 64;

class NoEvents final : public protocol::TransportEvents {
 public:
  void OnDone(protocol::ClientCall*) override {}
  void OnRequest(protocol::ServerCall*) override {}
};

}  // namespace

ExternalClient::ExternalClient(protocol::WakeTimer& timer,
                               std::vector<ExternalPeer> peers, Makers makers,
                               std::function<void()> wake)
    : queue_(timer, /*spin_ns=*/0),
      peers_(std::move(peers)),
      makers_(std::move(makers)),
      wake_(std::move(wake)) {
  // A queue that is in use is slept at; the worker starts calls on it later.
  queue_.get();
  thread_ = std::thread(&ExternalClient::RunQueue, this);
}

ExternalClient::~ExternalClient() {
  CancelAll();
  stopped_ = true;
  queue_.Wake();
  thread_.join();
  NoEvents nobody;
  while (!is_idle()) {
    if (PendingCall* pending = TakeEnded()) {
      Remove(*pending);
    } else {
      queue_.Poll(kNever, nobody);
    }
  }
  queue_.DrainForever(nobody);
}

void ExternalClient::RunQueue() {
  base::NameThread(kThreadName);
  NoEvents nobody;
  while (!stopped_) queue_.Poll(kNever, nobody);
}

bool ExternalClient::Start(protocol::ClientCall* call) {
  ExternalPeer& peer = peers_[call->peer];
  if (in_flight_.size() == kMaxCalls || !MayPass(peer)) return false;
  PendingCall* pending = pool_.Get();
  pending->position = in_flight_.size();
  in_flight_.push_back(pending);
  call->transport_state = pending;
  const auto maker = makers_.find(call->rpc_index);
  pending->Start(*call, maker == makers_.end() ? nullptr : maker->second.get(),
                 peer.channel, queue_.get(), *this);
  if (closed_) pending->Cancel();
  return true;
}

bool ExternalClient::MayPass(ExternalPeer& peer) {
  if (peer.limiters.empty()) return true;
  const int64_t now_ns = base::RealClock().MonotonicNs();
  for (size_t i = 0; i < peer.limiters.size(); ++i) {
    const int64_t free_ns = peer.limiters[i]->TryPass(now_ns);
    if (free_ns == 0) continue;
    while (i-- > 0) peer.limiters[i]->TakeBack();
    retry_ns_ = std::min(retry_ns_, free_ns);
    if (!std::exchange(peer.is_held_back, true)) ++held_back_;
    return false;
  }
  peer.is_held_back = false;
  return true;
}

void ExternalClient::OnEnded(protocol::Completion& call) {
  mailbox_.Push(&call);
  wake_();
}

bool ExternalClient::Deliver(protocol::TransportEvents& events) {
  int delivered = 0;
  while (delivered < kMaxDelivered) {
    PendingCall* pending = TakeEnded();
    if (pending == nullptr) break;
    protocol::ClientCall& call = pending->Finish();
    call.transport_state = nullptr;
    events.OnDone(&call);
    Remove(*pending);
    ++delivered;
  }
  return delivered > 0;
}

PendingCall* ExternalClient::TakeEnded() {
  if (ended_ == nullptr) ended_ = mailbox_.TakeAll();
  if (ended_ == nullptr) return nullptr;
  return static_cast<PendingCall*>(std::exchange(ended_, ended_->next));
}

void ExternalClient::Remove(PendingCall& pending) {
  in_flight_.back()->position = pending.position;
  std::swap(in_flight_[pending.position], in_flight_.back());
  in_flight_.pop_back();
  pending.Release();
  pool_.Put(&pending);
}

void ExternalClient::Cancel(protocol::ClientCall& call) {
  // Null if it has ended already.
  auto* const pending = static_cast<PendingCall*>(call.transport_state);
  if (pending != nullptr) pending->Cancel();
}

void ExternalClient::CancelAll() {
  for (PendingCall* pending : in_flight_) pending->Cancel();
}

void ExternalClient::Close() {
  closed_ = true;
  CancelAll();
}

}  // namespace distbench::external
