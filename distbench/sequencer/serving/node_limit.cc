#include "distbench/sequencer/serving/node_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

NodeLimit LimitNodes(int max_nodes, int64_t max_open_files) {
  const int64_t by_files =
      std::max<int64_t>(1, max_open_files - kFilesBesidesNodes);
  if (max_nodes <= by_files) {
    return {.count = max_nodes,
            .remedy =
                "give test_sequencer a larger --max_nodes, or all "
                "processes of the job the same --size"};
  }
  return {.count = static_cast<int>(by_files),
          .remedy = absl::StrCat(
              "it may have only ", max_open_files,
              " files open and needs one for each node; to take --max_nodes=",
              max_nodes, ", start it where ulimit -Hn is at least ",
              max_nodes + kFilesBesidesNodes,
              " (LimitNOFILE of a service of systemd)")};
}

int64_t MaxOpenFiles() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::numeric_limits<int64_t>::max();
  }
  return static_cast<int64_t>(
      std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int64_t>::max()));
}

}  // namespace distbench::sequencer
