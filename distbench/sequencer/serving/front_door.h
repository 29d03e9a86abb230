// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Accepts connections, and passes on those that begin like a gRPC client's.

#ifndef DISTBENCH_SEQUENCER_SERVING_FRONT_DOOR_H_
#define DISTBENCH_SEQUENCER_SERVING_FRONT_DOOR_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/wakeup.h"

namespace distbench::sequencer {

// From the moment when gRPC accepts a connection, the connection costs it some
// 30 KiB, even if nothing follows. Here a connection costs next to nothing
// until its first bytes show that it is HTTP/2 or TLS; all others are closed.
class FrontDoor {
 public:
  struct Options {
    // Numeric addresses, as ListenAddresses() returns them.
    std::vector<std::string> addresses;

    // Whether clients must begin with a TLS handshake.
    bool expect_tls = false;

    // How long a connection may take to send these first bytes.
    absl::Duration patience = absl::Seconds(10);

    // How many connections may be waiting for them; beyond that the oldest is
    // closed.
    int max_waiting = 1000;

    // The longest interval between retransmissions, for example after a cut of
    // a link, from 1 s to 2 minutes; only effective where the kernel supports
    // it. A connection breaks after some 15 such intervals.
    absl::Duration max_retransmission_interval = absl::Minutes(2);

    // When the host of a peer is gone: how long nothing that was sent, nor the
    // kernel's probes of an idle connection, may go unacknowledged; in seconds
    // from 10 on. The connection then breaks. The kernel does it at no cost;
    // gRPC's own keepalive restarts a timer for each message.
    absl::Duration gone_after = absl::Seconds(10);

    // Takes over a connection from which nothing has been read. Called on the
    // door's thread.
    std::function<void(int fd)> on_guest;
  };

  // Listens. The error names the address at which that is impossible, and says
  // why.
  static absl::StatusOr<std::unique_ptr<FrontDoor>> Open(Options options);

  // Closes the port, and all connections that were not passed on.
  ~FrontDoor();

  FrontDoor(const FrontDoor&) = delete;
  FrontDoor& operator=(const FrontDoor&) = delete;

 private:
  struct Connection {
    int fd = -1;
    bool is_listener = false;
    absl::Time deadline;
    std::list<Connection>::iterator place;
  };

  explicit FrontDoor(Options options);

  absl::Status Listen(const std::string& address);
  void Run();
  void Accept(const Connection& listener);
  void Look(const Connection& connection);
  void CloseOverdue();
  void Close(const Connection& connection);
  void Watch(Connection& connection);

  const Options options_;
  const int epoll_fd_;
  std::list<Connection> listeners_;
  std::list<Connection> waiting_;  // oldest first
  base::Wakeup end_;
  std::thread thread_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_FRONT_DOOR_H_
