// The bytes that pad messages: one block per NUMA node, shared by all messages
// in flight, so that payloads are never filled in or copied.

#ifndef DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_
#define DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace distbench {

inline constexpr size_t kPayloadSlabBytes = size_t{1} << 20;

// Returns kPayloadSlabBytes times 'D', close to the CPU on which the calling
// thread ran when it first asked; later calls return the same block. Larger
// payloads reference it repeatedly. Never freed. Thread-safe.
absl::string_view PayloadSlab();

}  // namespace distbench

#endif  // DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_
