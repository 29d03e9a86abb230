// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/testing/scripted_servers.h"

#include <algorithm>
#include <limits>

namespace distbench::engine {

class ScriptedTransport final : public protocol::Transport {
 public:
  ScriptedTransport(ScriptedServers& servers, protocol::Transport& inner)
      : servers_(servers), inner_(inner) {}

  bool Start(protocol::ClientCall* call) override {
    const int64_t now_ns = servers_.now_ns();
    ScriptedServers::Answer answer = servers_.script_(*call, now_ns);
    if (answer.is_full) return false;
    call->sent_ns = now_ns;
    call->sent_bytes = call->request_bytes;
    call->responding_instance = call->server_instance;
    int64_t end_ns = now_ns + answer.time_ns;
    if (call->deadline_ns != 0 && call->deadline_ns < end_ns &&
        !answer.is_read_late) {
      end_ns = std::max(now_ns, call->deadline_ns);
      answer.error = "DEADLINE_EXCEEDED: no answer in time";
      call->responding_instance = protocol::kNoInstance;
    }
    servers_.endings_.insert({end_ns,
                              {call, std::move(answer.error), this,
                               answer.wire_ns, answer.wire_shared}});
    ++servers_.call_count_;
    servers_.most_in_flight_ =
        std::max<int64_t>(servers_.most_in_flight_, servers_.endings_.size());
    return true;
  }

  bool Cancel(protocol::ClientCall& call) override {
    if (!servers_.can_cancel_) return false;
    ++servers_.cancelled_count_;
    CancelIf([&](const ScriptedServers::Ending& ending) {
      return ending.call == &call;
    });
    return true;
  }

  void CancelCalls() override {
    CancelIf([this](const ScriptedServers::Ending& ending) {
      return ending.transport == this;
    });
  }

  void Poll(int64_t deadline_ns, protocol::TransportEvents& events) override {
    const int64_t now_ns = servers_.now_ns();
    auto& endings = servers_.endings_;
    for (auto it = endings.begin();
         it != endings.end() && it->first <= now_ns;) {
      if (it->second.transport != this) {
        ++it;
        continue;
      }
      const ScriptedServers::Ending ending = std::move(it->second);
      endings.erase(it);
      End(ending, now_ns, events);
      it = endings.begin();  // the caller may have started or cancelled calls
    }
    inner_.Poll(deadline_ns, events);
  }

  void Reply(protocol::ServerCall* call) override { inner_.Reply(call); }
  void Wake() override { inner_.Wake(); }

 private:
  template <typename Condition>
  void CancelIf(Condition condition) {
    auto& endings = servers_.endings_;
    for (auto it = endings.begin(); it != endings.end();) {
      const auto entry = it++;
      if (!condition(entry->second)) continue;
      ScriptedServers::Ending ending = std::move(entry->second);
      endings.erase(entry);
      ending.error = "CANCELLED: the caller gave up";
      ending.call->responding_instance = protocol::kNoInstance;
      // Before all entries that are not due, so that the loop does not meet it.
      endings.insert({std::numeric_limits<int64_t>::min(), std::move(ending)});
    }
  }

  static void End(const ScriptedServers::Ending& ending, int64_t now_ns,
                  protocol::TransportEvents& events) {
    protocol::ClientCall& call = *ending.call;
    call.done_ns = now_ns;
    call.error = ending.error;
    call.wire_ns = ending.wire_ns;
    call.wire_shared = ending.wire_shared;
    call.received_bytes = ending.error.empty() ? 100 : 0;
    events.OnDone(&call);
  }

  ScriptedServers& servers_;
  protocol::Transport& inner_;
};

class ScriptedDriver final : public protocol::ProtocolDriver {
 public:
  ScriptedDriver(ScriptedServers& servers,
                 std::unique_ptr<protocol::ProtocolDriver> inner)
      : servers_(servers), inner_(std::move(inner)) {}

  absl::StatusOr<std::string> Listen(int worker_count) override {
    absl::StatusOr<std::string> address = inner_->Listen(worker_count);
    for (int i = 0; i < worker_count && address.ok(); ++i) {
      transports_.push_back(
          std::make_unique<ScriptedTransport>(servers_, inner_->transport(i)));
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
  ScriptedServers& servers_;
  const std::unique_ptr<protocol::ProtocolDriver> inner_;
  std::vector<std::unique_ptr<ScriptedTransport>> transports_;
};

ServiceLogs ScriptedServers::Run(const DistributedSystemDescription& test,
                                 int workers, int64_t limit_ns) {
  VirtualTimeOptions options;
  options.workers = workers;
  options.wrap_driver = [this](
                            int /*instance*/,
                            std::unique_ptr<protocol::ProtocolDriver> driver) {
    return std::make_unique<ScriptedDriver>(*this, std::move(driver));
  };
  options.next_due_ns = [this] { return next_due_ns(); };
  VirtualTimeSystem system(test, std::move(options));
  system_ = &system;
  system.RunFor(limit_ns);
  system.StopAll("the test is over");
  return system.Finish();
}

int64_t ScriptedServers::now_ns() const {
  return system_->clock().MonotonicNs();
}

int64_t ScriptedServers::next_due_ns() const {
  return endings_.empty() ? std::numeric_limits<int64_t>::max()
                          : endings_.begin()->first;
}

}  // namespace distbench::engine
