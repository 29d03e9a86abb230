#include "distbench/engine/recording/trace.h"

#include "proto/data_plane.pb.h"

namespace distbench {

std::string ExtendTrace(absl::string_view inherited, const TraceHop& hop) {
  TraceContext trace;
  if (!trace.ParseFromArray(inherited.data(),
                            static_cast<int>(inherited.size()))) {
    trace.Clear();
  }
  trace.add_engine_ids(hop.engine_id);
  trace.add_actionlist_indices(hop.list_index);
  trace.add_actionlist_invocations(hop.list_invocation);
  trace.add_action_indices(hop.action_index);
  trace.add_action_iterations(hop.iteration);
  trace.add_fanout_index(hop.fanout_index);
  return trace.SerializeAsString();
}

}  // namespace distbench
