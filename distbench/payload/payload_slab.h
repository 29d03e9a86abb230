// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The bytes that pad messages: one block per NUMA node and memory policy, which
// every message in flight refers to, so that no payload is ever filled in or
// copied.

#ifndef DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_
#define DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace distbench::payload {

inline constexpr size_t kPayloadSlabBytes = size_t{1} << 20;

// kPayloadSlabBytes times 'D', where the memory policy of the calling thread
// (set_mempolicy(2)) puts its memory when it first asks; by default near the
// CPU on which it runs then. Always the same block for a thread. Larger
// payloads refer to it repeatedly. Never freed. Thread-safe.
absl::string_view PayloadSlab();

}  // namespace distbench::payload

#endif  // DISTBENCH_PAYLOAD_PAYLOAD_SLAB_H_
