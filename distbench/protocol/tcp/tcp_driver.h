// RPCs in frames (frame.h) over TCP connections, with or without TLS, or over
// Unix sockets. Shows
// what a machine can do without an RPC stack.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/host_address.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/tcp_transport.h"

namespace distbench {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class TcpDriver final : public ProtocolDriver {
 public:
  // For service_address, see DriverEnvironment.
  TcpDriver(const TcpSettings& settings, AddressPreference preference,
            std::string service_address, ConnectionSecurity security = {});

  absl::StatusOr<std::string> Listen(int worker_count) override;
  Transport& transport(int worker) override { return *transports_[worker]; }
  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline) override;
  void AbortConnect() override { connect_aborted_ = true; }
  void Shutdown() override;
  std::vector<DriverCounter> Counters() const override {
    return counters_.List();
  }

  // Thread-safe.
  const StreamCounters& counters() const { return counters_; }

 private:
  // A socket and the address to which peers connect.
  struct Listening {
    FileDescriptor socket;
    std::string address;
  };
  absl::StatusOr<Listening> ListenAtHost() const;
  absl::StatusOr<Listening> ListenAtUnixSocket() const;

  const TcpSettings settings_;
  const AddressPreference preference_;
  const std::string service_address_;
  const ConnectionSecurity security_;
  StreamCounters counters_;
  std::vector<std::unique_ptr<TcpTransport>> transports_;
  size_t next_transport_ = 0;  // gets the next accepted connection
  std::atomic<bool> connect_aborted_ = false;
  bool shut_down_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_
