// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the import of Chakra's traces. scripts/fuzz.sh builds it with clang.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "distbench/products/trace_import/testing/chakra_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::trace_import::ImportAnyJob(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
