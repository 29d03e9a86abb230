#include "distbench/sequencer/execution/sequence_run.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::SizeIs;

void AddFindings(int count, Finding::Severity severity, const std::string& code,
                 RunInfo& info) {
  for (int i = 0; i < count; ++i) {
    Finding& finding = *info.add_findings();
    finding.set_severity(severity);
    finding.set_code(code);
    finding.set_message(absl::StrCat(code, i));
  }
}

TEST(FindingLimitTest, ManyOfAKindAreCounted) {
  RunInfo info;
  AddFindings(9000, Finding::WARN, "late_start", info);
  AddFindings(1, Finding::INVALID, "late_start", info);
  AddFindings(kMostFindingsOfAKind, Finding::NOTE, "clock_offset", info);
  LimitFindings(info);
  ASSERT_THAT(info.findings(), SizeIs(2 * kMostFindingsOfAKind + 2));
  EXPECT_EQ(info.findings(kMostFindingsOfAKind - 1).message(), "late_start99");
  EXPECT_EQ(info.findings(kMostFindingsOfAKind).severity(), Finding::INVALID);
  const Finding& rest = info.findings(2 * kMostFindingsOfAKind + 1);
  EXPECT_EQ(rest.severity(), Finding::WARN);
  EXPECT_EQ(rest.code(), "late_start");
  EXPECT_EQ(rest.message(), "there are 8900 more findings of this kind");
}

}  // namespace
}  // namespace distbench::sequencer
