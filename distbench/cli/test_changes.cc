#include "distbench/cli/test_changes.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/check.h"

namespace distbench::cli {

void LimitDuration(absl::Duration limit, TestSequence& tests) {
  if (limit == absl::InfiniteDuration()) return;
  // Tests that were checked stay valid: thirty years are as good as more.
  const int64_t seconds =
      std::min(config::kMaxTestTimeoutSeconds,
               absl::ToInt64Seconds(absl::Ceil(limit, absl::Seconds(1))));
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    (*test.mutable_attributes())[config::kTestTimeoutAttribute] =
        absl::StrCat(seconds);
  }
}

void RemarkOnTests(const TestSequence& tests) {
  for (int i = 0; i < tests.tests_size(); ++i) {
    for (const auto& [name, remark] : base::Plugins<TestRemark>::All()) {
      const std::string text = remark->about(tests.tests(i));
      if (!text.empty()) {
        std::cerr << "note: tests[" << i << "] " << text << std::endl;
      }
    }
  }
}

void LeaveOutSamples(TestSequence& tests) {
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    test.set_sample_memory_bytes(0);
  }
}

absl::StatusOr<TestSequence> WithObjectives(
    TestSequence tests, const std::vector<std::string>& objectives) {
  if (objectives.empty()) return tests;  // already checked
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    for (const std::string& objective : objectives) {
      test.add_objectives(objective);
    }
  }
  return config::CheckTestSequence(std::move(tests));
}

}  // namespace distbench::cli
