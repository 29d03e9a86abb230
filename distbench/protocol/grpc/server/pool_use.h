#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_POOL_USE_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_POOL_USE_H_

#include <cstddef>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/server/handler_pool.h"

namespace distbench::protocol {

// Selects the requests that go through a pool.
struct PoolUse {
  HandlerPool* pool = nullptr;  // null: requests are handled on arrival

  // By RPC index: whether requests are answered at once, without a thread,
  // unless the client asks for processing time.
  std::vector<bool> immediate_rpcs = {};

  bool Covers(const ServerCall& call) const {
    const auto index = static_cast<size_t>(call.rpc_index);
    const bool immediate = index < immediate_rpcs.size() &&
                           immediate_rpcs[index] && call.processing_ns == 0;
    return pool != nullptr && !immediate;
  }
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_POOL_USE_H_
