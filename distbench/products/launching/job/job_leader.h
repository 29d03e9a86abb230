#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_LEADER_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_LEADER_H_

#include "distbench/products/launching/job/job_options.h"

namespace distbench::base {
class StopSignals;
}  // namespace distbench::base

namespace distbench::launching {

// Leads a job: listens as its sequencer, is a node unless the options say
// otherwise, waits until the other processes have joined, runs the command as a
// child process that knows the sequencer from its environment, and tells the
// nodes to end. Blocks meanwhile.
//
// The exit status is the command's; kExitUsage if the command was never
// started, because this process could not listen or others did not join;
// kExitRunFailed if a signal ended the command. Without a command, serves until
// `stop`. A stop is passed on to the command, which decides how to end.
JobEnd LeadJob(const JobOptions& options, base::StopSignals& stop);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_LEADER_H_
