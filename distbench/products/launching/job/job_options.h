// What the processes of a job do, whichever launcher started them.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_OPTIONS_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/node/node_manager.h"
#include "distbench/products/launching/job/leader_location.h"
#include "distbench/products/launching/job/place_in_job.h"

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

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_JOB_OPTIONS_H_
