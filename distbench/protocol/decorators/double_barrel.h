#ifndef DISTBENCH_PROTOCOL_DECORATORS_DOUBLE_BARREL_H_
#define DISTBENCH_PROTOCOL_DECORATORS_DOUBLE_BARREL_H_

#include <memory>

#include "distbench/protocol/driver.h"

namespace distbench {

// Sends RPCs through two clients of `inner` in turn: every transport has two
// connections to each peer, and uses them alternately, peer by peer. The server
// is the one of `inner`. Shows what a second connection is worth.
//
// While a call is with this driver its `peer` may be another number; OnDone()
// gets it back as it was.
std::unique_ptr<ProtocolDriver> MakeDoubleBarrelDriver(
    std::unique_ptr<ProtocolDriver> inner);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_DECORATORS_DOUBLE_BARREL_H_
