// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tells ThreadSanitizer what gRPC's completion queues order: the start of an
// operation comes before its end, which is reported with the operation's tag.
// And sending a message comes before reading it, if both ends are in one
// process and share the message's memory.
//
// The distribution's gRPC is compiled without ThreadSanitizer (see
// tsan_abseil.cc), and its queues use atomics. gRPC's C++ library also calls
// these functions, for synchronous calls and for callbacks.

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <sanitizer/tsan_interface.h>

#include "third_party/sanitizers/hidden_function.h"

namespace {

using distbench_sanitizers::HiddenFunction;

void Started(void* tag) {
  if (tag != nullptr) __tsan_release(tag);
}

void Ended(const grpc_event& event) {
  if (event.type == GRPC_OP_COMPLETE && event.tag != nullptr) {
    __tsan_acquire(event.tag);
  }
}

void Sent(const grpc_op& op) {
  if (op.op != GRPC_OP_SEND_MESSAGE) return;
  const grpc_byte_buffer* message = op.data.send_message.send_message;
  if (message == nullptr || message->type != GRPC_BB_RAW) return;
  const grpc_slice_buffer& slices = message->data.raw.slice_buffer;
  for (size_t i = 0; i < slices.count; ++i) {
    __tsan_release(GRPC_SLICE_START_PTR(slices.slices[i]));
  }
}

}  // namespace

extern "C" {

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue,
                                      gpr_timespec deadline, void* reserved) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_completion_queue_next)>(
          "grpc_completion_queue_next");
  const grpc_event event = hidden(queue, deadline, reserved);
  Ended(event);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_completion_queue_pluck)>(
          "grpc_completion_queue_pluck");
  const grpc_event event = hidden(queue, tag, deadline, reserved);
  Ended(event);
  return event;
}

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops,
                                      size_t op_count, void* tag,
                                      void* reserved) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_call_start_batch)>("grpc_call_start_batch");
  Started(tag);
  for (size_t i = 0; i < op_count; ++i) Sent(ops[i]);
  return hidden(call, ops, op_count, tag, reserved);
}

grpc_call_error grpc_server_request_call(grpc_server* server, grpc_call** call,
                                         grpc_call_details* details,
                                         grpc_metadata_array* metadata,
                                         grpc_completion_queue* call_queue,
                                         grpc_completion_queue* queue,
                                         void* tag) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_server_request_call)>(
          "grpc_server_request_call");
  Started(tag);
  return hidden(server, call, details, metadata, call_queue, queue, tag);
}

grpc_call_error grpc_server_request_registered_call(
    grpc_server* server, void* method, grpc_call** call, gpr_timespec* deadline,
    grpc_metadata_array* metadata, grpc_byte_buffer** payload,
    grpc_completion_queue* call_queue, grpc_completion_queue* queue,
    void* tag) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_server_request_registered_call)>(
          "grpc_server_request_registered_call");
  Started(tag);
  return hidden(server, method, call, deadline, metadata, payload, call_queue,
                queue, tag);
}

void grpc_server_shutdown_and_notify(grpc_server* server,
                                     grpc_completion_queue* queue, void* tag) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_server_shutdown_and_notify)>(
          "grpc_server_shutdown_and_notify");
  Started(tag);
  hidden(server, queue, tag);
}

void grpc_channel_watch_connectivity_state(grpc_channel* channel,
                                           grpc_connectivity_state last_seen,
                                           gpr_timespec deadline,
                                           grpc_completion_queue* queue,
                                           void* tag) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_channel_watch_connectivity_state)>(
          "grpc_channel_watch_connectivity_state");
  Started(tag);
  hidden(channel, last_seen, deadline, queue, tag);
}

int grpc_byte_buffer_reader_peek(grpc_byte_buffer_reader* reader,
                                 grpc_slice** slice) {
  static auto* const hidden =
      HiddenFunction<decltype(grpc_byte_buffer_reader_peek)>(
          "grpc_byte_buffer_reader_peek");
  const int found = hidden(reader, slice);
  if (found) __tsan_acquire(GRPC_SLICE_START_PTR(**slice));
  return found;
}

}  // extern "C"
