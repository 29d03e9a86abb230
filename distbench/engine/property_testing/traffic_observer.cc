// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/property_testing/traffic_observer.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"

namespace distbench::engine {

void CallCounts::Start() {
  ++started;
  most_at_once = std::max(most_at_once, in_flight());
}

class WatchedStreams final : public protocol::StreamTransport,
                             public protocol::StreamEvents {
 public:
  WatchedStreams(TrafficObserver& observer, int instance,
                 protocol::StreamTransport& inner)
      : observer_(observer), instance_(instance), inner_(inner) {}

  void SetEvents(protocol::StreamEvents* events) { events_ = events; }

  void Open(protocol::ClientCall* call) override {
    inner_.Open(call);
    observer_.OnStart(instance_, *call);
  }
  int64_t Write(protocol::ClientCall& call, int64_t bytes, bool last) override {
    return inner_.Write(call, bytes, last);
  }
  void CancelStream(protocol::ClientCall& call) override {
    inner_.CancelStream(call);
  }
  int64_t Write(protocol::ServerCall& call, int64_t bytes) override {
    return inner_.Write(call, bytes);
  }
  void Finish(protocol::ServerCall* call, int64_t last_message_bytes,
              int64_t blocked_ns) override {
    observer_.OnReply(instance_, *call);
    inner_.Finish(call, last_message_bytes, blocked_ns);
  }

 private:
  void OnWritten(protocol::ClientCall& call, int64_t now_ns) override {
    events_->OnWritten(call, now_ns);
  }
  void OnMessage(protocol::ClientCall& call, int64_t bytes,
                 int64_t now_ns) override {
    events_->OnMessage(call, bytes, now_ns);
  }
  void OnDone(protocol::ClientCall* call, int64_t server_blocked_ns) override {
    observer_.OnDone(instance_, *call);
    events_->OnDone(call, server_blocked_ns);
  }
  void OnOpened(protocol::ServerCall* call) override {
    observer_.OnRequest(instance_, *call);
    events_->OnOpened(call);
  }
  void OnWritten(protocol::ServerCall& call, int64_t now_ns) override {
    events_->OnWritten(call, now_ns);
  }
  void OnMessage(protocol::ServerCall& call, int64_t bytes,
                 int64_t now_ns) override {
    events_->OnMessage(call, bytes, now_ns);
  }
  void OnRequestsOver(protocol::ServerCall& call, int64_t now_ns) override {
    events_->OnRequestsOver(call, now_ns);
  }
  void OnBroken(protocol::ServerCall& call, int64_t now_ns) override {
    events_->OnBroken(call, now_ns);
  }

  TrafficObserver& observer_;
  const int instance_;
  protocol::StreamTransport& inner_;
  protocol::StreamEvents* events_ = nullptr;
};

class WatchedTransport final : public protocol::Transport,
                               private protocol::TransportEvents {
 public:
  WatchedTransport(TrafficObserver& observer, int instance,
                   protocol::Transport& inner)
      : observer_(observer), instance_(instance), inner_(inner) {
    if (inner.streams() != nullptr) {
      streams_.emplace(observer, instance, *inner.streams());
    }
  }

  bool Start(protocol::ClientCall* call) override {
    if (observer_.Refuses() || !inner_.Start(call)) {
      ++observer_.refused_count_;
      return false;
    }
    // Nothing is delivered before the next Poll().
    observer_.OnStart(instance_, *call);
    return true;
  }
  void Reply(protocol::ServerCall* call) override {
    observer_.OnReply(instance_, *call);
    inner_.Reply(call);
  }
  void Poll(int64_t deadline_ns, protocol::TransportEvents& events) override {
    events_ = &events;
    if (streams_) streams_->SetEvents(events.stream_events());
    inner_.Poll(deadline_ns, *this);
  }
  void Wake() override { inner_.Wake(); }
  bool Cancel(protocol::ClientCall& call) override {
    return inner_.Cancel(call);
  }
  void CancelCalls() override { inner_.CancelCalls(); }
  int64_t BreakConnections() override { return inner_.BreakConnections(); }
  protocol::StreamTransport* streams() override {
    return streams_ ? &*streams_ : nullptr;
  }

 private:
  protocol::StreamEvents* stream_events() override {
    return streams_ ? &*streams_ : nullptr;
  }
  void OnDone(protocol::ClientCall* call) override {
    observer_.OnDone(instance_, *call);
    events_->OnDone(call);
  }
  void OnRequest(protocol::ServerCall* call) override {
    observer_.OnRequest(instance_, *call);
    events_->OnRequest(call);
  }

  TrafficObserver& observer_;
  const int instance_;
  protocol::Transport& inner_;
  std::optional<WatchedStreams> streams_;
  protocol::TransportEvents* events_ = nullptr;
};

namespace {

class WatchedDriver final : public protocol::ProtocolDriver {
 public:
  WatchedDriver(TrafficObserver& observer, int instance,
                std::unique_ptr<protocol::ProtocolDriver> inner)
      : observer_(observer), instance_(instance), inner_(std::move(inner)) {}

  absl::StatusOr<std::string> Listen(int worker_count) override {
    absl::StatusOr<std::string> address = inner_->Listen(worker_count);
    for (int i = 0; i < worker_count && address.ok(); ++i) {
      transports_.push_back(std::make_unique<WatchedTransport>(
          observer_, instance_, inner_->transport(i)));
    }
    return address;
  }
  protocol::Transport& transport(int worker) override {
    return *transports_[worker];
  }
  absl::Status Connect(const std::vector<protocol::Peer>& peers,
                       absl::Time deadline) override {
    return inner_->Connect(peers, deadline);
  }
  void Shutdown() override { inner_->Shutdown(); }

 private:
  TrafficObserver& observer_;
  const int instance_;
  const std::unique_ptr<protocol::ProtocolDriver> inner_;
  std::vector<std::unique_ptr<WatchedTransport>> transports_;
};

}  // namespace

std::unique_ptr<protocol::ProtocolDriver> TrafficObserver::Watch(
    int instance, std::unique_ptr<protocol::ProtocolDriver> driver) {
  return std::make_unique<WatchedDriver>(*this, instance, std::move(driver));
}

int64_t TrafficObserver::most_in_flight(int instance) const {
  const auto found = by_instance_.find(instance);
  return found == by_instance_.end() ? 0 : found->second.most_at_once;
}

bool TrafficObserver::Refuses() {
  return refusal_probability_ > 0 && random_.Chance(refusal_probability_);
}

void TrafficObserver::OnStart(int instance, const protocol::ClientCall& call) {
  if (!calls_.try_emplace(&call, call.rpc_index, call.deadline_ns).second) {
    Complain(instance, "a call is sent that is in flight already");
  }
  if (call.deadline_ns != 0) deadlines_.insert(call.deadline_ns);
  sent_[{instance, call.rpc_index}].Start();
  by_instance_[instance].Start();
  if (call.rpc_index >= 0 && call.rpc_index < plan_.rpcs.size() &&
      plan_.rpcs[call.rpc_index].server_service ==
          plan_.instances[instance].service &&
      plan_.rpcs[call.rpc_index].multi_server_channel == config::kNone &&
      call.server_instance == plan_.instances[instance].number) {
    Complain(instance, "it calls itself");
  }
}

void TrafficObserver::OnDone(int instance, const protocol::ClientCall& call) {
  const auto found = calls_.find(&call);
  if (found == calls_.end()) {
    Complain(instance, "a call is done that was not in flight");
    return;
  }
  const auto [rpc, deadline_ns] = found->second;
  calls_.erase(found);
  if (deadline_ns != 0) deadlines_.erase(deadlines_.find(deadline_ns));
  sent_[{instance, rpc}].End();
  by_instance_[instance].End();
  if (call.done_ns < call.sent_ns) {
    Complain(instance, "a call is done before it was sent");
  }
}

void TrafficObserver::OnRequest(int instance,
                                const protocol::ServerCall& call) {
  if (!requests_.insert(&call).second) {
    Complain(instance, "a request arrives twice");
  }
  handled_[{instance, call.rpc_index}].Start();
}

void TrafficObserver::OnReply(int instance, const protocol::ServerCall& call) {
  if (requests_.erase(&call) == 0) {
    Complain(instance, "a request is answered that is not waiting");
  }
  handled_[{instance, call.rpc_index}].End();
}

void TrafficObserver::Complain(int instance, const std::string& what) {
  constexpr size_t kMaxKept = 20;
  if (violations_.size() == kMaxKept) return;
  violations_.push_back(
      absl::StrCat(plan_.instances[instance].name, ": ", what));
}

}  // namespace distbench::engine
