// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/payload/payload_slab.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <compare>
#include <cstring>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench::payload {
namespace {

// As many NUMA nodes as a kernel may be built for: it refuses shorter masks.
constexpr unsigned long kMaxNodes = 1024;
using NodeMask = std::array<unsigned long, kMaxNodes / (8 * sizeof(long))>;

// Where a thread's memory is to lie (set_mempolicy(2)).
struct Place {
  int mode = MPOL_DEFAULT;
  NodeMask nodes = {};
  unsigned cpu_node = 0;  // only if the policy leaves it to the thread's CPU

  // Not auto: libc++ before 17 has no <=> of arrays.
  std::strong_ordering operator<=>(const Place&) const = default;
};

bool IsLocal(const Place& place) {
  return place.mode == MPOL_DEFAULT || place.mode == MPOL_LOCAL ||
         (place.mode == MPOL_PREFERRED && place.nodes == NodeMask());
}

Place PlaceOfThisThread() {
  Place place;
  if (syscall(SYS_get_mempolicy, &place.mode, place.nodes.data(), kMaxNodes,
              nullptr, 0) != 0) {
    place = Place();  // a kernel without NUMA
  }
  unsigned cpu = 0;
  if (IsLocal(place)) getcpu(&cpu, &place.cpu_node);
  return place;
}

// Pages of its own: what an allocator hands out may have been touched before,
// by a thread that is bound otherwise. The policy is given to the memory as
// well, so that it holds whoever touches it; if the kernel does not let us, the
// calling thread's policy decides, as it fills the memory in.
const char* MakeSlab(const Place& place) {
  void* const memory =
      mmap(nullptr, kPayloadSlabBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
  if (memory == MAP_FAILED) {
    return (new std::string(kPayloadSlabBytes, 'D'))->data();
  }
  if (!IsLocal(place)) {
    (void)syscall(SYS_mbind, memory, kPayloadSlabBytes, place.mode,
                  place.nodes.data(), kMaxNodes, 0);
  }
  std::memset(memory, 'D', kPayloadSlabBytes);
  return static_cast<const char*>(memory);
}

struct Slabs {
  absl::Mutex mutex;
  std::map<Place, const char*> by_place ABSL_GUARDED_BY(mutex);
};

absl::string_view SlabOfThisThread() {
  static Slabs* const slabs = new Slabs;
  const Place place = PlaceOfThisThread();
  absl::MutexLock lock(&slabs->mutex);
  const char*& slab = slabs->by_place[place];
  if (slab == nullptr) slab = MakeSlab(place);
  return absl::string_view(slab, kPayloadSlabBytes);
}

}  // namespace

absl::string_view PayloadSlab() {
  thread_local const absl::string_view slab = SlabOfThisThread();
  return slab;
}

}  // namespace distbench::payload
