// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs over libfabric's reliable datagrams: in messages (wire.h) that the
// chosen provider carries, such as tcp or shm.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_LIBFABRIC_DRIVER_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_LIBFABRIC_DRIVER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/libfabric/fabric.h"
#include "distbench/products/libfabric/libfabric_transport.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver.h"

namespace distbench::libfabric {

// Each worker has an endpoint of its own, and a link to one worker of each
// server.
class LibfabricDriver final : public protocol::ProtocolDriver {
 public:
  // For service_address and test_nonce, see DriverEnvironment. If
  // `tls_is_wanted`, Listen() refuses, because there is none.
  LibfabricDriver(LibfabricSettings settings,
                  protocol::AddressPreference preference,
                  std::string service_address, std::string test_nonce,
                  bool tls_is_wanted = false);

  absl::StatusOr<std::string> Listen(int worker_count) override;
  protocol::Transport& transport(int worker) override {
    return *transports_[worker];
  }
  absl::Status Connect(const std::vector<protocol::Peer>& peers,
                       absl::Time deadline) override;
  void AbortConnect() override { connect_aborted_ = true; }
  void Shutdown() override;
  std::vector<protocol::DriverCounter> Counters() const override {
    return counters_.List();
  }

 private:
  absl::StatusOr<std::string> ChooseHost() const;
  bool SharesMemory() const;
  absl::Status CheckPeers(const std::vector<protocol::Peer>& peers) const;
  absl::Status AwaitConnections(absl::Time deadline);

  const LibfabricSettings settings_;
  const protocol::AddressPreference preference_;
  const std::string service_address_;
  const std::string test_nonce_;
  const bool tls_is_wanted_;
  LibfabricCounters counters_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<LibfabricTransport>> transports_;
  std::atomic<bool> connect_aborted_ = false;
  bool shut_down_ = false;
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_LIBFABRIC_DRIVER_H_
