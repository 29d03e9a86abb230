// One host's part of a job that `distbench launch` started: what runs at the
// other end of an ssh session.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_LAUNCHED_RANK_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_LAUNCHED_RANK_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::base {
class StopSignals;
}  // namespace distbench::base

namespace distbench::launching {

struct LaunchedRank {
  // The path of distbench.
  std::string program;

  // Arguments of its command join, without the leader and the secret.
  std::vector<std::string> join_arguments;
};

// Says that it is ready, waits for the start message on `input`, and runs
// `distbench join` until that ends, a stop is requested, or the input ends. In
// the latter cases, join gets SIGTERM, and a minute to keep what it measured.
// Returns the wait status, as waitpid(2) does.
//
// `say` gets lines of start_message.h, without line feed, for launch. The
// secret is in a private folder while join runs, which ends in any case.
absl::StatusOr<int> RunLaunchedRank(
    const LaunchedRank& rank, int input, base::StopSignals& stop,
    const std::function<void(absl::string_view line)>& say);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_LAUNCHED_RANK_H_
