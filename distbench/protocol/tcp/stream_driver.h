// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What drivers over TCP connections or Unix sockets have in common: listening,
// connecting, and the distribution of connections over workers.

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_DRIVER_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_DRIVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_transport.h"
#include "distbench/protocol/tcp/wire_time.h"

namespace distbench::protocol {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class StreamDriver : public ProtocolDriver {
 public:
  absl::StatusOr<std::string> Listen(int worker_count) override;
  Transport& transport(int worker) override { return *transports_[worker]; }
  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline) override;
  void AbortConnect() override { connect_aborted_ = true; }
  void Shutdown() override;
  std::vector<ConnectionReadings> NetworkReadings() const override {
    return security_.network->Readings();
  }

 protected:
  // `connections` is their number from each worker to each server. The server
  // may listen on a Unix socket (addresses.h) instead of a TCP port. For
  // service_address, see DriverEnvironment.
  StreamDriver(int64_t connections, bool uses_unix_socket,
               AddressPreference preference, std::string service_address,
               ConnectionSecurity security);

  const ConnectionSecurity& security() const { return security_; }

 private:
  // A socket and the address to which peers connect.
  struct Listening {
    base::FileDescriptor socket;
    std::string address;
  };
  absl::StatusOr<Listening> ListenAtHost() const;
  absl::StatusOr<Listening> ListenAtUnixSocket() const;
  absl::Status OpenTransports(int count, base::FileDescriptor listener);
  void Serve(base::FileDescriptor socket);

  virtual std::unique_ptr<SocketTransport> MakeTransport() = 0;

  // Says hello on a connection that was just made, if its greeting does not.
  virtual void SayHello(DialTarget& /*target*/) {}

  // Makes sure that the peers of connections that were just made belong to this
  // test, if their protocol does so only after dialing.
  virtual absl::Status Verify(absl::Span<DialTarget> /*targets*/,
                              absl::Time /*deadline*/,
                              const std::atomic<bool>& /*aborted*/) {
    return absl::OkStatus();
  }

  // The transports are destroyed after what the derived class has given them,
  // which their destructors do not use.
  const int64_t connections_;
  const bool uses_unix_socket_;
  const AddressPreference preference_;
  const std::string service_address_;
  const ConnectionSecurity security_;
  std::vector<std::unique_ptr<SocketTransport>> transports_;
  size_t next_transport_ = 0;  // gets the next accepted connection
  std::optional<ReceiveStamping> receive_stamping_;  // if clients take stamps
  std::atomic<bool> connect_aborted_ = false;
  bool shut_down_ = false;
};

// What a driver over connections needs of its options and its environment, with
// TLS for ALPN's `protocol`, which may be empty.
absl::StatusOr<ConnectionSecurity> SecurityOf(
    const config::DriverOptions& options, const DriverEnvironment& environment,
    absl::string_view protocol);

// Makes a driver over connections.
template <typename MadeDriver, typename Settings>
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeStreamDriver(
    Settings settings, absl::string_view protocol,
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  absl::StatusOr<ConnectionSecurity> security =
      SecurityOf(options, environment, protocol);
  if (!security.ok()) return security.status();
  settings.measures_time_parts = environment.measures_time_parts;
  return std::make_unique<MadeDriver>(
      settings,
      AddressPreference{.netdev = options.netdev,
                        .ip_version = options.ip_version,
                        .listen_address = environment.listen_address},
      environment.service_address, *std::move(security));
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_DRIVER_H_
