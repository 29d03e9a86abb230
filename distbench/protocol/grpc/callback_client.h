#ifndef DISTBENCH_PROTOCOL_GRPC_CALLBACK_CLIENT_H_
#define DISTBENCH_PROTOCOL_GRPC_CALLBACK_CLIENT_H_

#include <memory>

#include "distbench/protocol/grpc/client_side.h"
#include "distbench/protocol/grpc/event_queue.h"

namespace distbench {

// The client side of client_type "callback": gRPC's callback API, in which
// threads of gRPC, shared by the whole process, call back at the end of a call.
// The callback notes the time, which is what service times are measured with,
// and posts the call to the worker's queue, whose turn it runs if the worker
// sleeps. The queue must outlive it.
std::unique_ptr<ClientSide> MakeCallbackClient(EventQueue& queue);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_CALLBACK_CLIENT_H_
