// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the import of traces. scripts/fuzz.sh builds it with clang.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "distbench/products/trace_import/testing/traces_fuzz_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::trace_import::ImportAnything(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
