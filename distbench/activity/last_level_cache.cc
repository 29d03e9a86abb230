#include "distbench/activity/last_level_cache.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "distbench/numa/topology.h"

namespace distbench::activity {

absl::StatusOr<int64_t> LastLevelCacheBytes(const std::string& root) {
  const HostTopology topology = numa::ReadHostTopology(root);
  // Level, then size. Levels have one digit.
  std::pair<char, int64_t> last = {'0', 0};
  for (const CpuCache& cache : topology.caches()) {
    const std::string& name = cache.name();
    if (name.size() < 2 || absl::EndsWith(name, "i")) continue;
    last = std::max(last, {name[1], cache.size_bytes()});
  }
  if (last.second > 0) return last.second;
  return absl::NotFoundError(
      "the host does not say how large its last-level cache is; set bytes");
}

}  // namespace distbench::activity
