// RPCs over gRPC: data_plane.proto's service Traffic, with raw byte buffers, so
// that protobuf has no part in it.
//
// Threading models. Whatever they are, the worker's thread runs the engine, and
// OnDone() and OnRequest() reach it inside Poll().
//
//   client_type   a call's end is taken by
//   polling       the worker, from its own completion queue (core API)
//   callback      a thread of gRPC's (callback API), which stamps it, so that
//                 what comes after counts as lateness, not as service time; it
//                 posts it to the worker
//
//   server_type   a request is taken by            and handled
//   inline        the worker, from its own queue   in place
//   polling       the worker, from its own queue   by a thread of the pool
//   handoff       a thread of gRPC's               by a thread of the pool
//
// pooled_request.h says what a thread of the pool does. threadpool_type and
// threadpool_size are those of handler_pool.h; the pool is the driver's, shared
// by its workers. gRPC's own threads are shared by the whole process. Requests
// of immediate RPCs (driver_environment.h) take no thread of the pool: the
// worker answers them, in the callback API after one hand-over.
//
// Counters(): "handler_threads", the most threads that the pool has had.

#ifndef DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_
#define DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"

namespace distbench {

// The error names the setting that is wrong.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcDriver(
    const DriverOptions& options, const DriverEnvironment& environment);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_
