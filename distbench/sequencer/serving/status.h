#ifndef DISTBENCH_SEQUENCER_SERVING_STATUS_H_
#define DISTBENCH_SEQUENCER_SERVING_STATUS_H_

#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/runs/run_queue.h"
#include "distbench/sequencer/runs/run_status.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// Describes the registered nodes, the running test and the queue.
GetStatusResponse DescribeStatus(const NodeRegistry& registry,
                                 const RunStatus& running,
                                 const RunQueue& queue,
                                 const base::Clock& clock);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_STATUS_H_
