#ifndef DISTBENCH_PROTOCOL_CALL_HEADER_H_
#define DISTBENCH_PROTOCOL_CALL_HEADER_H_

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"

namespace distbench {

// Returns a call's request header as sent on the wire. It refers to the call's
// trace context.
inline RequestHeader HeaderOf(const ClientCall& call) {
  return {.rpc_index = call.rpc_index,
          .server_instance = call.server_instance,
          .warmup = call.warmup,
          .response_bytes = call.response_bytes,
          .processing_ns = call.processing_ns,
          .trace_context = call.trace_context};
}

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CALL_HEADER_H_
