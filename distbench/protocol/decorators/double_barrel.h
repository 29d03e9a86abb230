#ifndef DISTBENCH_PROTOCOL_DECORATORS_DOUBLE_BARREL_H_
#define DISTBENCH_PROTOCOL_DECORATORS_DOUBLE_BARREL_H_

#include <memory>

#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Sends RPCs through two clients of `inner` alternately: every transport has
// two connections to each peer, and alternates between them separately for each
// peer. The server side is that of `inner`. Shows the effect of a second
// connection.
//
// While this driver has a call, the call's `peer` may differ. It is restored
// before OnDone().
std::unique_ptr<ProtocolDriver> MakeDoubleBarrelDriver(
    std::unique_ptr<ProtocolDriver> inner);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DECORATORS_DOUBLE_BARREL_H_
