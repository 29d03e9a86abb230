#ifndef DISTBENCH_ENGINE_RECORDING_TRACE_H_
#define DISTBENCH_ENGINE_RECORDING_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

// What one hop adds to a trace.
struct TraceHop {
  int64_t engine_id = 0;
  int64_t list_index = 0;
  int64_t list_invocation = 0;
  int64_t action_index = 0;
  int64_t iteration = 0;
  int64_t fanout_index = 0;
};

// Returns a serialised TraceContext: `inherited`, which is one or empty, with a
// hop added. An inherited context that does not parse counts as empty.
std::string ExtendTrace(absl::string_view inherited, const TraceHop& hop);

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_RECORDING_TRACE_H_
