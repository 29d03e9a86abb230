// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/loopback/loopback_driver.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/wakeup.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/loopback/loopback_mailbox.h"
#include "distbench/protocol/loopback/loopback_transport.h"

namespace distbench::protocol {
namespace {

using Transports = std::vector<std::shared_ptr<LoopbackTransport>>;

// A listening instance and its test.
struct Listener {
  Transports transports;
  std::string test_nonce;
};

// The listeners of this process by address. Thread-safe.
class Directory {
 public:
  std::string Add(Listener listener) {
    absl::MutexLock lock(&mutex_);
    std::string address = absl::StrCat("loopback:", next_++);
    listeners_[address] = std::move(listener);
    return address;
  }

  // Returns a listener without transports if nobody listens at the address.
  Listener Find(const std::string& address) {
    absl::MutexLock lock(&mutex_);
    auto found = listeners_.find(address);
    return found == listeners_.end() ? Listener() : found->second;
  }

  void Remove(const std::string& address) {
    absl::MutexLock lock(&mutex_);
    listeners_.erase(address);
  }

  static Directory& Get() {
    static Directory* const directory = new Directory;
    return *directory;
  }

 private:
  absl::Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, Listener> listeners_ ABSL_GUARDED_BY(mutex_);
};

class LoopbackDriver final : public ProtocolDriver {
 public:
  LoopbackDriver(const base::Clock& clock, std::string test_nonce,
                 bool measures_time_parts)
      : clock_(clock),
        test_nonce_(std::move(test_nonce)),
        measures_time_parts_(measures_time_parts) {}
  ~LoopbackDriver() override {
    Shutdown();
    for (const auto& transport : transports_) transport->Detach();
  }

  absl::StatusOr<std::string> Listen(int worker_count) override {
    for (int i = 0; i < worker_count; ++i) {
      absl::StatusOr<base::Wakeup> wakeup = base::Wakeup::Make();
      if (!wakeup.ok()) return wakeup.status();
      transports_.push_back(std::make_shared<LoopbackTransport>(
          *std::move(wakeup), clock_, measures_time_parts_));
    }
    address_ = Directory::Get().Add({transports_, test_nonce_});
    return address_;
  }

  Transport& transport(int worker) override { return *transports_[worker]; }

  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time /*deadline*/) override {
    for (const Peer& peer : peers) {
      std::vector<Transports> servers;
      for (const std::string& address : peer.addresses) {
        Listener listener = Directory::Get().Find(address);
        if (!listener.transports.empty() &&
            listener.test_nonce != test_nonce_) {
          return absl::PermissionDeniedError(
              absl::StrCat("no traffic is sent to peer ", address,
                           ": it takes part in another test"));
        }
        servers.push_back(std::move(listener.transports));
        if (!servers.back().empty()) continue;
        return absl::UnavailableError(
            absl::StrCat("nothing listens at ", address,
                         "; the loopback driver reaches instances of the same "
                         "process only, so place all instances on one node"));
      }
      AddPeer(servers, peer.policy == config::kRoundRobinPolicy);
    }
    return absl::OkStatus();
  }

  std::vector<DriverCounter> Counters() const override {
    int64_t late_replies = 0;
    int64_t broken = 0;
    for (const auto& transport : transports_) {
      late_replies += transport->late_replies();
      broken += transport->broken_connections();
    }
    std::vector<DriverCounter> counters;
    AddCounters({{"late_replies", late_replies},
                 {"connections_lost_on_purpose", broken}},
                counters);
    return counters;
  }

  void Shutdown() override {
    Directory::Get().Remove(address_);
    for (const auto& transport : transports_) {
      transport->Close();
      transport->Wake();
    }
  }

 private:
  void AddPeer(const std::vector<Transports>& servers, bool round_robin) {
    for (size_t i = 0; i < transports_.size(); ++i) {
      LoopbackPeer::Servers chosen;
      for (const Transports& server : servers) {
        chosen.push_back(server[i % server.size()]);
      }
      transports_[i]->AddPeer({std::move(chosen), round_robin});
    }
  }

  const base::Clock& clock_;
  const std::string test_nonce_;
  const bool measures_time_parts_;
  Transports transports_;
  std::string address_;
};

}  // namespace

std::unique_ptr<ProtocolDriver> MakeLoopbackDriver(const base::Clock& clock,
                                                   std::string test_nonce,
                                                   bool measures_time_parts) {
  return std::make_unique<LoopbackDriver>(clock, std::move(test_nonce),
                                          measures_time_parts);
}

}  // namespace distbench::protocol
