// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs over gRPC: the service Traffic of data_plane.proto, with raw byte
// buffers and without protobuf.
//
// Threading models: in all of them the worker's thread runs the engine, and
// OnDone() and OnRequest() reach it inside Poll().
//
//   client_type   the end of a call is taken by
//   polling       the worker, from its own completion queue (core API)
//   callback      a thread of gRPC's callback API (queue/callback_queue.h),
//                 which records the time, so that later delays count as
//                 lateness and not as service time, and posts the call to the
//                 worker
//
//   server_type   a request is taken by            and handled
//   inline        the worker, from its own queue   in place
//   polling       the worker, from its own queue   by a thread of the pool
//   handoff       a thread of gRPC                 by a thread of the pool
//
// server/unary_server.h describes what a thread of the pool does, and
// handler_pool.h the settings threadpool_type and threadpool_size. The pool
// belongs to the driver, whose workers share it. gRPC's own threads are shared
// by the whole process. Requests of immediate RPCs (driver_environment.h) take
// no thread of the pool: the worker answers them, with handoff after one
// hand-over.
//
// RPCs that stream (client/streaming_calls.h) need a client of type "polling"
// and a server of type "inline": their events come in the worker's own queue.
//
// Counters(): "handler_threads", the peak number of threads of the pool.
//
// The driver grpc_stream differs from that: calls are messages on long-lived
// streams (Traffic.GenericStream). The worker takes replies and requests from
// its own queue, and handles requests in place. A call that is cancelled or
// whose deadline passes ends on the client; the server does not notice, and its
// late reply is dropped. When a stream fails, so do the calls in flight on it.
// The next call opens a new one, after a back-off. Counters(): see
// wire/stream_side.h.

#ifndef DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_
#define DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"

namespace distbench::protocol {

// RESOURCE_EXHAUSTED if no thread can be started.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcDriver(
    const config::DriverOptions& options, const DriverEnvironment& environment);

// Same, for the driver grpc_stream.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcStreamDriver(
    const config::DriverOptions& options, const DriverEnvironment& environment);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_
