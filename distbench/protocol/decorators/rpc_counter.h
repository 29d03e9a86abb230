#ifndef DISTBENCH_PROTOCOL_DECORATORS_RPC_COUNTER_H_
#define DISTBENCH_PROTOCOL_DECORATORS_RPC_COUNTER_H_

#include <memory>

#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Counts all RPCs that pass through `inner`, including those of the warm-up and
// those that are cancelled. Counters():
//
//   rpcs_sent           handed to the driver, as a client
//   rpcs_answered       sent RPCs that succeeded
//   rpcs_failed         sent RPCs that failed; answered and failed add up to
//                       sent once nothing is in flight
//   requests_received   delivered by the driver, as a server
//   replies_sent        handed to the driver
std::unique_ptr<ProtocolDriver> MakeRpcCounterDriver(
    std::unique_ptr<ProtocolDriver> inner);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DECORATORS_RPC_COUNTER_H_
