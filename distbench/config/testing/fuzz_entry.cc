// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/fuzz_entry.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "glog/logging.h"

namespace distbench::config {

std::vector<std::string> ConfigWords() {
  std::vector<std::string> words = {
      "!",      "*",     "all",  "linear_y{-2}", "200/s",
      "1.5k/s", "6/min", "50ms", "1h30m",        "256KiB",
      "1e30s",  "0B",    "80%",  "p99<=20ms",    "incast"};
  for (const DriverDeclaration& driver : DriverCatalog()) {
    words.push_back(driver.name);
    if (driver.decorated_driver_setting.empty()) continue;
    words.push_back(driver.decorated_driver_setting);
  }
  return words;
}

namespace {

// Whatever passes validation must have a driver inside all its decorators.
void CheckDriver(const DriverOptions& options) {
  const DriverDeclaration* driver = FindDriver(options.driver);
  CHECK(driver != nullptr) << options.driver;
  CHECK_EQ(options.decorated.empty(), driver->decorated_driver_setting.empty())
      << options.driver;
  for (const DriverOptions& inner : options.decorated) CheckDriver(inner);
}

void CompileChecked(const TestSequence& checked) {
  for (const DistributedSystemDescription& test : checked.tests()) {
    for (const ServicePlan& service : Compile(test).services) {
      CheckDriver(service.driver);
    }
  }
}

}  // namespace

bool CheckAndCompile(TestSequence sequence) {
  const absl::StatusOr<TestSequence> checked =
      CheckTestSequence(std::move(sequence));
  if (checked.ok()) CompileChecked(*checked);
  return checked.ok();
}

bool LoadCheckAndCompile(absl::string_view bytes) {
  const ConfigText text = {"input", std::string(bytes)};
  absl::StatusOr<TestSequence> sequence = ParseTestSequence(bytes, text.source);
  if (!sequence.ok()) return false;
  const absl::StatusOr<TestSequence> checked =
      CheckTestSequence(*std::move(sequence), text);
  if (checked.ok()) {
    CompileChecked(*checked);
  } else {
    CHECK(absl::StartsWith(checked.status().message(), text.source));
  }
  return checked.ok();
}

}  // namespace distbench::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::config::LoadCheckAndCompile(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
