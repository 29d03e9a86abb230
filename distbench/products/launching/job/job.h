// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What the processes of a job do, whichever launcher started them.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/node/node_manager.h"
#include "distbench/products/launching/job/leader_location.h"
#include "distbench/products/launching/job/place_in_job.h"

namespace distbench::base {
class StopSignals;
}  // namespace distbench::base

namespace distbench::launching {

// The command that the leader runs once the job is complete.
struct JobCommand {
  std::string path;
  std::vector<std::string> arguments;  // the first is the program's name

  bool empty() const { return path.empty(); }
};

struct JobOptions {
  PlaceInJob place;
  LeaderLocation leader;

  // The node that this process is, except for its name, its sequencer and its
  // timeouts; its `tls` is that of the whole job.
  node::NodeManagerOptions node;

  // Whether the leader is a node, too.
  bool node_on_leader = true;

  // Empty: the leader serves until it is told to stop.
  JobCommand command;

  // How long all processes together may take to join.
  absl::Duration join_timeout = absl::Seconds(60);

  // How long a node tries to reach a leader that it has lost.
  absl::Duration leader_timeout = absl::Seconds(30);

  // Kept in results; empty if not known.
  std::string revision;

  // Receives a line for users at each step. Called on the thread that runs the
  // job.
  std::function<void(absl::string_view line)> say = [](absl::string_view) {};
};

// How this process's part of the job ended.
struct JobEnd {
  int exit_status = 0;
  std::string error = {};  // for users; empty: none
};

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

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_H_
