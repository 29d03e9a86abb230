#include "distbench/payload/payload_slab.h"

#include <sched.h>

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench {
namespace {

struct Slabs {
  absl::Mutex mutex;
  std::map<unsigned, const std::string*> by_node ABSL_GUARDED_BY(mutex);
};

// Memory lies where the thread that first touches it runs, or may have memory:
// the first one of each node fills in that node's slab.
const std::string& SlabOfThisNode() {
  static Slabs* const slabs = new Slabs;
  unsigned cpu = 0;
  unsigned node = 0;
  if (getcpu(&cpu, &node) != 0) node = 0;
  absl::MutexLock lock(&slabs->mutex);
  const std::string*& slab = slabs->by_node[node];
  if (slab == nullptr) slab = new std::string(kPayloadSlabBytes, 'D');
  return *slab;
}

}  // namespace

absl::string_view PayloadSlab() {
  thread_local const absl::string_view slab = SlabOfThisNode();
  return slab;
}

}  // namespace distbench
