// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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
  EXPECT_EQ(BracketBar({}, {}, 9), "");
  // From 100 to 400: 283 is in the third quarter, and the last load that met.
  EXPECT_EQ(BracketBar(Report(), {.met = 283, .missed = 400}, 9),
            "[......o==]");
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
    display.Observe(report, *report.probes().rbegin(),
                    {.met = 283, .missed = 400});
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
       .asked = absl::Seconds(10),
       .bracket = {.met = 406}});
  EXPECT_THAT(written_, HasSubstr("probe 2 (bracket): 812, measured for 10s"));
  RunTestsEvent event;
  event.mutable_started();
  display.Show(event);
  written_.clear();
  clock_.SetMonotonicNs(clock_.MonotonicNs() + 4'000'000'000);
  event.mutable_progress()->set_succeeded_count(3200);
  event.mutable_progress()->set_traffic_time_ns(4'000'000'000);
  display.Show(event);
  if (GetParam()) {
    EXPECT_THAT(written_, HasSubstr("probe 2 bracket 812: 8 s left, 800/s; "
                                    "bracket 406 to ?"));
    EXPECT_THAT(written_, Not(EndsWith("\n")));
  } else {
    EXPECT_EQ(written_, "");
  }
}

// The last counts arrive soon after others, and after the traffic's time.
TEST_P(SearchDisplayTest, ShowsNoRateOfTheLastReports) {
  if (!GetParam()) return;
  SearchDisplay display = MakeDisplay();
  display.Announce(
      {.request = {.load = 800}, .timing = {.measured = absl::Seconds(4)}});
  RunTestsEvent event;
  event.mutable_started();
  display.Show(event);
  const auto show = [&](int64_t clock_ms, int64_t traffic_ms, int64_t count) {
    written_.clear();
    clock_.SetMonotonicNs(clock_.MonotonicNs() + clock_ms * 1'000'000);
    event.mutable_progress()->set_succeeded_count(count);
    event.mutable_progress()->set_traffic_time_ns(traffic_ms * 1'000'000);
    display.Show(event);
  };
  show(3000, 3000, 2400);
  EXPECT_THAT(written_, HasSubstr("1 s left, 800/s"));
  show(600, 3100, 2900);  // of a node whose reports are late
  EXPECT_THAT(written_, HasSubstr("1 s left, 800/s"));
  show(600, 4000, 3200);
  EXPECT_THAT(written_, HasSubstr(": ending"));
  EXPECT_THAT(written_, Not(HasSubstr("/s")));
}

TEST_P(SearchDisplayTest, SaysWhyARunIsLongerThanAsked) {
  SearchDisplay display = MakeDisplay();
  display.Announce({.request = {.phase = ProbePhase::kFinal, .load = 800},
                    .timing = {.measured = absl::Seconds(30)},
                    .asked = absl::Seconds(3)});
  EXPECT_THAT(written_, HasSubstr("measured for 30s instead of 3s, for enough "
                                  "RPCs above the percentile"));
}

TEST_P(SearchDisplayTest, BracketsAreInOrder) {
  SearchReport report = Report();
  AddProbe("final", 270, "missed", report);
  const SearchProbe& last = *report.probes().rbegin();
  MakeDisplay().Observe(report, last, {.met = 283, .missed = 270});
  EXPECT_THAT(written_, HasSubstr("; bracket 270 to 283\n"));
  // Ends that read alike are none.
  written_.clear();
  MakeDisplay().Observe(report, last, {.met = 270.04, .missed = 270});
  EXPECT_THAT(written_, HasSubstr("; the bracket has closed at 270\n"));
  // A list has none.
  written_.clear();
  MakeDisplay().Observe(report, last, {});
  EXPECT_THAT(written_, Not(HasSubstr("bracket")));
}

TEST_P(SearchDisplayTest, SaysWhatDisturbedAProbe) {
  SearchReport report = Report();
  report.mutable_probes(4)->add_disturbances("other programs ran for 9s");
  SearchDisplay display = MakeDisplay();
  display.Observe(report, report.probes(4), {});
  EXPECT_THAT(written_, HasSubstr("  disturbed: other programs ran for 9s\n"));
  display.ShowVerdict(report);
  EXPECT_THAT(written_, HasSubstr("Doubt: other programs disturbed 1 of 5 "
                                  "probes (5), so that"));
}

TEST_P(SearchDisplayTest, NamesWhatTheAnswerIs) {
  SearchReport report = Report();
  report.set_load_unit("iterations per second");
  report.set_load(283);
  MakeDisplay().ShowVerdict(report);
  EXPECT_THAT(written_, HasSubstr("Highest load that met: 283 iterations"));
  AddProbe("final", 283, "met", report);
  MakeDisplay().ShowVerdict(report);
  EXPECT_THAT(written_, HasSubstr("Highest load whose final runs met: 283 "));
}

TEST_P(SearchDisplayTest, SaysWhenTheFinalRunIs) {
  SearchDisplay display = MakeDisplay();
  display.Announce({.number = 9,
                    .request = {.phase = ProbePhase::kFinal, .load = 800},
                    .timing = {.measured = absl::Seconds(60)},
                    .asked = absl::Seconds(60)});
  EXPECT_THAT(written_, HasSubstr("probe 9 (final): 800, measured for 1m, "));
  EXPECT_THAT(written_, EndsWith(" UTC\n"));
}

INSTANTIATE_TEST_SUITE_P(Outputs, SearchDisplayTest, ::testing::Bool());

}  // namespace
}  // namespace distbench::search
