#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_MEMBER_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_MEMBER_H_

#include "distbench/products/launching/job/job_options.h"

namespace distbench::base {
class StopSignals;
}  // namespace distbench::base

namespace distbench::launching {

// Takes part in a job as the node of its rank, until the leader tells it to end
// (exit status kExitOk), or is lost for longer than leader_timeout
// (kExitRunFailed). kExitUsage if the leader is not found within join_timeout,
// or refuses this process. Blocks meanwhile.
//
// Launchers send signals to all processes at once. After a stop, this one
// therefore leaves it to the leader for some seconds to end the test in order;
// then it hands over its measurements and leaves.
JobEnd JoinJob(const JobOptions& options, base::StopSignals& stop);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_MEMBER_H_
