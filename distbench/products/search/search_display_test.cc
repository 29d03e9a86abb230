#include "distbench/products/search/search_display.h"

#include <string>

#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

void AddProbe(const std::string& phase, double load, const std::string& outcome,
              SearchReport& report) {
  SearchProbe& probe = *report.add_probes();
  probe.set_number(report.probes_size());
  probe.set_phase(phase);
  probe.set_requested_load(load);
  probe.set_outcome(outcome);
  probe.add_measured("p95 1.000 ms");
}

SearchReport Report() {
  SearchReport report;
  AddProbe("warmup", 100, "met", report);
  AddProbe("bracket", 100, "met", report);
  AddProbe("bracket", 200, "met", report);
  AddProbe("bracket", 400, "missed", report);
  AddProbe("refine", 283, "met", report);
  return report;
}

TEST(BracketBarTest, ShowsWhereTheAnswerIs) {
  EXPECT_EQ(BracketBar({}, 9), "");
  // From 100 to 400: 283 is in the third quarter, and the last load that met.
  EXPECT_EQ(BracketBar(Report(), 9), "[......o==]");
}

class SearchDisplayTest : public ::testing::TestWithParam<bool> {
 protected:
  SearchDisplay MakeDisplay() {
    return SearchDisplay({.terminal = GetParam(),
                          .columns = 200,
                          .clock = &clock_,
                          .write = [this](absl::string_view text) {
                            written_.append(text.data(), text.size());
                          }});
  }

  base::FakeClock clock_;
  std::string written_;
};

TEST_P(SearchDisplayTest, SaysWhatEachProbeSaid) {
  {
    SearchDisplay display = MakeDisplay();
    const SearchReport report = Report();
    display.Observe(report, *report.probes().rbegin());
  }
  EXPECT_THAT(written_, HasSubstr("probe 5 refine 283 met: p95 1.000 ms; "
                                  "bracket 283 to 400\n"));
  EXPECT_EQ(absl::string_view(written_).find("[") == 0, GetParam());
}

TEST_P(SearchDisplayTest, ShowsARunningProbeOnTerminalsOnly) {
  SearchDisplay display = MakeDisplay();
  display.Announce(
      {.number = 2,
       .request = {.phase = ProbePhase::kBracket, .load = 812},
       .timing = {.warmup = absl::Seconds(2), .measured = absl::Seconds(10)},
       .met = 406});
  EXPECT_THAT(written_, HasSubstr("probe 2 (bracket): 812, measured for 10s"));
  RunTestsEvent event;
  event.mutable_started();
  display.Show(event);
  written_.clear();
  clock_.SetMonotonicNs(clock_.MonotonicNs() + 4'000'000'000);
  event.mutable_progress()->set_succeeded_count(3200);
  display.Show(event);
  if (GetParam()) {
    EXPECT_THAT(written_, HasSubstr("probe 2 bracket 812: 8 s left, 800 RPCs "
                                    "per second, bracket 406 to ?"));
    EXPECT_THAT(written_, Not(EndsWith("\n")));
  } else {
    EXPECT_EQ(written_, "");
  }
}

TEST_P(SearchDisplayTest, SaysWhenTheFinalRunIs) {
  SearchDisplay display = MakeDisplay();
  display.Announce({.number = 9,
                    .request = {.phase = ProbePhase::kFinal, .load = 800},
                    .timing = {.measured = absl::Seconds(60)}});
  EXPECT_THAT(written_, HasSubstr("probe 9 (final): 800, measured for 1m, "));
  EXPECT_THAT(written_, EndsWith(" UTC\n"));
}

INSTANTIATE_TEST_SUITE_P(Outputs, SearchDisplayTest, ::testing::Bool());

}  // namespace
}  // namespace distbench::search
