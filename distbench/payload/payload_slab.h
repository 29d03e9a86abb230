// The bytes that pad messages: one block per NUMA node, which every message in
// flight refers to, so that no payload is ever filled in or copied.

#ifndef DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_
#define DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace distbench {

inline constexpr size_t kPayloadSlabBytes = size_t{1} << 20;

// kPayloadSlabBytes times 'D', near the CPU on which the calling thread ran
// when it first asked: always the same block. Larger payloads refer to it
// repeatedly. Never freed. Thread-safe.
absl::string_view PayloadSlab();

}  // namespace distbench

#endif  // DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_
