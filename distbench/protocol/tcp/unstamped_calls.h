#ifndef DISTBENCH_PROTOCOL_TCP_UNSTAMPED_CALLS_H_
#define DISTBENCH_PROTOCOL_TCP_UNSTAMPED_CALLS_H_

#include <cstdint>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// The calls of a connection that have been queued since it was last written,
// which share a time of sending.
class UnstampedCalls {
 public:
  void Add(ClientCall& call) { calls_.push_back(&call); }

  // Sets their sent_ns. Call this before they can end.
  void Stamp() {
    if (calls_.empty()) return;
    const int64_t now_ns = base::RealClock().MonotonicNs();
    for (ClientCall* call : calls_) call->sent_ns = now_ns;
    calls_.clear();
  }

 private:
  std::vector<ClientCall*> calls_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_UNSTAMPED_CALLS_H_
