// The client side of a transport in its default mode: calls complete on the
// worker's own queue.

#ifndef DISTBENCH_PROTOCOL_GRPC_POLLING_CLIENT_H_
#define DISTBENCH_PROTOCOL_GRPC_POLLING_CLIENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/channel.h"
#include "distbench/protocol/grpc/event_queue.h"

namespace distbench {

// Used by the thread that polls the queue.
class PollingClient {
 public:
  // The queue must outlive this.
  explicit PollingClient(EventQueue& queue);
  // Requires that nothing is in flight.
  ~PollingClient();

  PollingClient(const PollingClient&) = delete;
  PollingClient& operator=(const PollingClient&) = delete;

  // One per peer. Replaces those that there were.
  void SetChannels(std::vector<Channel> channels);

  // As Transport::Start().
  bool Start(ClientCall* call);

  void CancelAll();

  // Cancels everything, also what is started later.
  void Close();

  // Like Close(); besides, the ClientCalls in flight are not touched any more.
  void Abandon();

  size_t in_flight() const { return in_flight_.size(); }

 private:
  class PendingCall;
  struct Peer {
    Channel channel;
    int in_flight = 0;
  };

  void OnComplete(PendingCall& pending, TransportEvents& events);
  void Recycle(PendingCall& pending);

  EventQueue& queue_;
  std::vector<Peer> peers_;
  ObjectPool<PendingCall> pool_;
  std::vector<PendingCall*> in_flight_;  // each knows its position
  bool closed_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_POLLING_CLIENT_H_
