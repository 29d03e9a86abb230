// The client side that makes a call of gRPC for each RPC.

#ifndef DISTBENCH_PROTOCOL_GRPC_CLIENT_UNARY_CLIENT_H_
#define DISTBENCH_PROTOCOL_GRPC_CLIENT_UNARY_CLIENT_H_

#include <grpc/grpc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::protocol {

class UnaryClient final : public ClientSide {
 public:
  // For the arguments, see MakeUnaryClient().
  UnaryClient(EventQueue& queue, const CallbackQueue* callbacks)
      : queue_(queue), callbacks_(callbacks) {}
  ~UnaryClient() override;

  UnaryClient(const UnaryClient&) = delete;
  UnaryClient& operator=(const UnaryClient&) = delete;

  void SetChannels(std::vector<std::vector<Channel>> channels) override;
  void LimitChannels(int64_t calls_per_channel,
                     std::vector<ChannelMaker> makers) override;
  int64_t renewed_channels() const override { return renewed_channels_; }

  bool Start(ClientCall* call) override;
  void Cancel(ClientCall& call) override;
  void CancelAll() override;
  void Close() override;
  void Abandon() override;
  size_t in_flight() const override { return in_flight_.size(); }

 private:
  class Call;

  // One channel at a time, and the calls that it was given.
  struct Place {
    // With limited calls, also kept by them; null before its first call.
    std::shared_ptr<Channel> channel;
    int64_t calls = 0;
  };

  struct PeerState {
    std::vector<Place> places;
    ChannelMaker make_channel;  // null if calls are not limited
    std::vector<std::shared_ptr<Channel>> first;  // with limited calls
    size_t next = 0;                              // the next place
    int in_flight = 0;

    Place& NextPlace() {
      Place& place = places[next];
      if (++next == places.size()) next = 0;
      return place;
    }
  };

  void Use(PeerState& peer, Place& place, Call& call);

  // A call has ended. Called by the thread that has the turn.
  void OnEnd(Call& call, TransportEvents& events);

  EventQueue& queue_;
  const CallbackQueue* const callbacks_;
  std::vector<PeerState> peers_;
  base::ObjectPool<Call> pool_;
  std::vector<Call*> in_flight_;   // each knows its position
  int64_t calls_per_channel_ = 0;  // 0: no limit
  std::atomic<int64_t> renewed_channels_ = 0;
  bool closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_CLIENT_UNARY_CLIENT_H_
