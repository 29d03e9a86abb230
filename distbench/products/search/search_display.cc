// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/search_display.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/human_units.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/report/search_text.h"

namespace distbench::search {
namespace {

constexpr int64_t kDrawIntervalNs = 500'000'000;
constexpr int kBarWidth = 24;

std::string UtcClock(absl::Time time) {
  return absl::FormatTime("%H:%M:%S", time, absl::UTCTimeZone());
}

// The lower load first, wherever noise has put them; empty without any.
std::string BracketText(const Bracket& bracket, bool finds_lowest) {
  const auto& [met, missed] = bracket;
  if (!met && !missed) return "";
  if (met && missed && LoadText(*met) == LoadText(*missed)) {
    return absl::StrCat("; the bracket has closed at ", LoadText(*met));
  }
  const auto text = [](const std::optional<double>& load) {
    return load ? LoadText(*load) : std::string("?");
  };
  const bool is_missed_first = met && missed ? *missed < *met : finds_lowest;
  return absl::StrCat("; bracket ", text(is_missed_first ? missed : met),
                      " to ", text(is_missed_first ? met : missed));
}

}  // namespace

SearchDisplay::SearchDisplay(client::ProgressDisplayOptions options,
                             bool is_simulated)
    : line_(std::move(options)), is_simulated_(is_simulated) {}

void SearchDisplay::ShowPlan(const SearchPlan& plan) {
  finds_lowest_ = plan.options.finds_lowest;
  std::string text = absl::StrCat(
      "Looking for the ", plan.options.finds_lowest ? "lowest" : "highest",
      " load with ", absl::StrJoin(plan.spec.objectives(), " and "), ", in ",
      plan.knob->unit());
  if (!plan.loads.empty()) {
    text = absl::StrCat("Running ", plan.loads.size(), " loads, in ",
                        plan.knob->unit());
  } else {
    absl::StrAppend(&text, " from ", LoadText(plan.options.min_load), " to ",
                    LoadText(plan.options.max_load), ", with at most ",
                    plan.options.max_probes, " probes");
    if (plan.timing.max_total != absl::InfiniteDuration()) {
      absl::StrAppend(&text, " and ",
                      absl::FormatDuration(plan.timing.max_total),
                      " of traffic");
    }
  }
  if (plan.instances > 1) {
    absl::StrAppend(&text, ", on ", plan.instances, " instances side by side");
  }
  if (plan.is_simulated) absl::StrAppend(&text, ", on simulated hosts");
  line_.Write(text);
}

void SearchDisplay::ShowAttempt(const TestSequenceResults& earlier) {
  for (const SearchReport& report : earlier.searches()) {
    if (!report.has_verdict() || HasAnswer(report)) continue;
    line_.Write(absl::StrCat("Ended before, after ", report.probes_size(),
                             " probes, as ", report.verdict(), ": ",
                             report.evidence()));
  }
}

void SearchDisplay::Announce(const PlannedProbe& probe) {
  probe_ = probe;
  started_ns_ = shown_ns_ = 0;
  rate_.clear();
  meter_ = results::ProgressMeter();
  const std::string text = absl::StrCat(
      "probe ", probe.number, " (", ToString(probe.request.phase),
      "): ", LoadText(probe.request.load), ", measured for ", TimeText(probe));
  // The final run always gets a line, because users attach profilers to it.
  if (probe.request.phase == ProbePhase::kFinal) return line_.Write(text);
  line_.Show(text);
}

std::string SearchDisplay::TimeText(const PlannedProbe& probe) const {
  const ProbeTiming& timing = probe.timing;
  std::string duration = absl::FormatDuration(timing.measured);
  if (timing.measured > probe.asked) {
    absl::StrAppend(&duration, " instead of ",
                    absl::FormatDuration(probe.asked),
                    ", for enough RPCs above the percentile");
  }
  if (is_simulated_) return absl::StrCat(duration, " of simulated time");
  const absl::Time start = absl::Now() + timing.warmup;
  return absl::StrFormat("%s, %s to %s UTC", duration, UtcClock(start),
                         UtcClock(start + timing.measured));
}

void SearchDisplay::Show(const RunTestsEvent& event) {
  const int64_t now_ns = line_.options().clock->MonotonicNs();
  if (event.has_started()) {
    started_ns_ = shown_ns_ = now_ns;
    return;
  }
  if (event.has_queue_position() && event.queue_position() > 0) {
    line_.Show(absl::StrCat(
        "probe ", probe_.number, " waits for ", event.queue_position(),
        event.queue_position() == 1 ? " run" : " runs", " before it"));
  }
  if (!event.has_progress() || !line_.options().terminal) return;
  meter_.Add(event.progress());
  if (now_ns - shown_ns_ < kDrawIntervalNs) return;
  // The last counts arrive together: over too short a time there is no rate,
  // and the interval goes on.
  const bool has_rate = meter_.time_ns() >= kDrawIntervalNs;
  if (has_rate) {
    rate_ =
        base::HumanRate(meter_.PerSecond(&TrafficProgress::succeeded_count));
  }
  line_.Show(absl::StrCat("probe ", probe_.number, " ",
                          ToString(probe_.request.phase), " ",
                          LoadText(probe_.request.load), ": ", Status(now_ns),
                          BracketText(probe_.bracket, finds_lowest_)));
  shown_ns_ = now_ns;
  if (has_rate) meter_.BeginInterval();
}

std::string SearchDisplay::Status(int64_t now_ns) const {
  const int64_t total_ns =
      absl::ToInt64Nanoseconds(probe_.timing.warmup + probe_.timing.measured);
  const int64_t left_ns = std::max<int64_t>(0, started_ns_ + total_ns - now_ns);
  std::string text = left_ns == 0
                         ? "ending"
                         : absl::StrCat((left_ns + base::kNsPerSecond - 1) /
                                            base::kNsPerSecond,
                                        " s left");
  // What comes after the traffic's time is no rate of it.
  if (left_ns > 0 && !rate_.empty()) absl::StrAppend(&text, ", ", rate_);
  const std::string p99 = meter_.latencies().PercentileText(99);
  if (!p99.empty()) absl::StrAppend(&text, ", ", p99);
  return text;
}

void SearchDisplay::Observe(const SearchReport& report,
                            const SearchProbe& probe, const Bracket& bracket) {
  std::string bar;
  if (line_.options().terminal) {
    bar = BracketBar(report, bracket, kBarWidth);
    if (!bar.empty()) bar += " ";
  }
  line_.Write(absl::StrCat(bar, "probe ", probe.number(), " ", probe.phase(),
                           " ", LoadText(probe.requested_load()), " ",
                           probe.outcome(), ": ",
                           absl::StrJoin(probe.measured(), "; "),
                           BracketText(bracket, report.finds_lowest())));
  for (const std::string& line : RemarksOn(probe)) {
    line_.Write(absl::StrCat("  ", line));
  }
}

void SearchDisplay::ShowVerdict(const SearchReport& report) {
  line_.Write(absl::StrCat("Verdict", report.simulated() ? " (simulated)" : "",
                           ": ", report.verdict()));
  if (std::string answer = AnswerLine(report); !answer.empty()) {
    answer[0] = absl::ascii_toupper(answer[0]);
    line_.Write(answer);
  }
  line_.Write(absl::StrCat("Evidence: ", report.evidence()));
  const std::string doubt = DoubtOf(report);
  if (!doubt.empty()) line_.Write(absl::StrCat("Doubt: ", doubt));
}

std::string BracketBar(const SearchReport& report, const Bracket& bracket,
                       int width) {
  if (report.probes().empty()) return "";
  double low = report.probes(0).requested_load();
  double high = low;
  for (const SearchProbe& probe : report.probes()) {
    low = std::min(low, probe.requested_load());
    high = std::max(high, probe.requested_load());
  }
  if (!(low > 0) || low == high) return "";
  const auto place = [&](double load) {
    return static_cast<int>(
        std::lround((width - 1) * std::log(load / low) / std::log(high / low)));
  };
  const double met = bracket.met.value_or(low);
  const double missed = bracket.missed.value_or(high);
  std::string bar(width, '.');
  for (int i = place(std::min(met, missed)); i <= place(std::max(met, missed));
       ++i) {
    bar[i] = '=';
  }
  bar[place(report.probes().rbegin()->requested_load())] = 'o';
  return absl::StrCat("[", bar, "]");
}

}  // namespace distbench::search
