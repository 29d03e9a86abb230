#ifndef DISTBENCH_PROTOCOL_GRPC_CALLBACK_CLIENT_H_
#define DISTBENCH_PROTOCOL_GRPC_CALLBACK_CLIENT_H_

#include <memory>

#include "distbench/protocol/grpc/client_side.h"
#include "distbench/protocol/grpc/event_queue.h"

namespace distbench {

// The client side for client_type "callback". It uses gRPC's callback API, in
// which threads of gRPC, shared by the whole process, call back at the end of a
// call. The callback records the time, from which service times are computed,
// and posts the call to the worker's queue; if the worker sleeps, it runs the
// worker's turn. The queue must outlive the client side.
std::unique_ptr<ClientSide> MakeCallbackClient(EventQueue& queue);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_CALLBACK_CLIENT_H_
