// Accepts connections, and passes on those that begin as a gRPC client does.

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

namespace distbench {

// A connection costs gRPC some 30 KiB from the moment when it is accepted,
// whatever comes of it. Here it costs next to nothing until its first bytes
// show that it is one of HTTP/2 or TLS; anything else is closed.
class FrontDoor {
 public:
  struct Options {
    // Numeric, as ListenAddresses() returns them.
    std::vector<std::string> addresses;

    // Clients have to begin with a TLS handshake.
    bool expect_tls = false;

    // How long a connection may take to show what it is.
    absl::Duration patience = absl::Seconds(10);

    // Of those that have not, how many there may be; the oldest goes.
    int max_waiting = 1000;

    // How long a connection waits at most until it sends again what was lost,
    // as after a cut of a link; from 1 s to 2 minutes, and only where the
    // kernel lets it be set. It breaks after some 15 times that.
    absl::Duration max_retransmission_interval = absl::Minutes(2);

    // Takes a connection over, of which nothing has been read. On the door's
    // thread.
    std::function<void(int fd)> on_guest;
  };

  // Listens. The error says at which address that is impossible, and why.
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
  Wakeup end_;
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_SERVING_FRONT_DOOR_H_
