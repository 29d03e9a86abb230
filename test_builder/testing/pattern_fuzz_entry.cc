// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/testing/pattern_fuzz_entry.h"

#include <cstddef>
#include <cstdint>

#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"

namespace distbench::test_builder {

bool BuildAndCheck(const std::string& config) {
  if (config.find('<') != std::string::npos) return false;
  Notes notes;
  const auto tests =
      BuildTests({.configs = {config}, .allow_extra = true}, notes);
  return tests.ok() && CheckTests(*tests, notes).ok();
}

}  // namespace distbench::test_builder

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::test_builder::BuildAndCheck(
      std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
