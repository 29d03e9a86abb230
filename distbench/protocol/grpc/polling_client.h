#ifndef DISTBENCH_PROTOCOL_GRPC_POLLING_CLIENT_H_
#define DISTBENCH_PROTOCOL_GRPC_POLLING_CLIENT_H_

#include <memory>

#include "distbench/protocol/grpc/client_side.h"
#include "distbench/protocol/grpc/event_queue.h"

namespace distbench {

// The client side for the default client_type "polling": calls complete on the
// worker's own queue. The queue must outlive it.
std::unique_ptr<ClientSide> MakePollingClient(EventQueue& queue);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_POLLING_CLIENT_H_
