#include "distbench/products/search/search_display.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/results/histogram_proto.h"

namespace distbench::search {
namespace {

constexpr int64_t kDrawIntervalNs = 500'000'000;
constexpr int kBarWidth = 24;

std::string UtcClock(absl::Time time) {
  return absl::FormatTime("%H:%M:%S", time, absl::UTCTimeZone());
}

// The bracket so far.
struct Bracket {
  std::optional<double> met;
  std::optional<double> missed;
};

Bracket BracketOf(const SearchReport& report) {
  Bracket bracket;
  for (const SearchProbe& probe : report.probes()) {
    if (probe.phase() == ToString(ProbePhase::kWarmup)) continue;
    const double load = probe.requested_load();
    if (probe.outcome() == kMetOutcome) {
      const double met = bracket.met.value_or(load);
      bracket.met =
          report.finds_lowest() ? std::min(met, load) : std::max(met, load);
    } else if (probe.outcome() != kFailedOutcome) {
      const double missed = bracket.missed.value_or(load);
      bracket.missed = report.finds_lowest() ? std::max(missed, load)
                                             : std::min(missed, load);
    }
  }
  return bracket;
}

std::string BracketText(const std::optional<double>& met,
                        const std::optional<double>& missed) {
  const auto text = [](const std::optional<double>& load) {
    return load ? absl::StrFormat("%.6g", *load) : std::string("?");
  };
  return absl::StrCat("bracket ", text(met), " to ", text(missed));
}

}  // namespace

SearchDisplay::SearchDisplay(client::ProgressDisplayOptions options,
                             bool is_simulated)
    : line_(std::move(options)), is_simulated_(is_simulated) {}

void SearchDisplay::ShowPlan(const SearchPlan& plan) {
  std::string text = absl::StrCat(
      "Looking for the ", plan.options.finds_lowest ? "lowest" : "highest",
      " load with ", absl::StrJoin(plan.spec.objectives(), " and "), ", in ",
      plan.knob->unit());
  if (!plan.loads.empty()) {
    text = absl::StrCat("Running ", plan.loads.size(), " loads, in ",
                        plan.knob->unit());
  } else {
    absl::StrAppendFormat(&text, " from %.6g to %.6g, with at most %d probes",
                          plan.options.min_load, plan.options.max_load,
                          plan.options.max_probes);
  }
  if (plan.instances > 1) {
    absl::StrAppend(&text, ", on ", plan.instances, " instances side by side");
  }
  if (plan.is_simulated) absl::StrAppend(&text, ", on simulated hosts");
  line_.Write(text);
}

void SearchDisplay::Announce(const PlannedProbe& probe) {
  probe_ = probe;
  started_ns_ = shown_ns_ = 0;
  shown_count_ = count_ = 0;
  latency_ns_.Clear();
  const std::string text =
      absl::StrFormat("probe %d (%s): %.6g, measured for %s", probe.number,
                      ToString(probe.request.phase), probe.request.load,
                      TimeText(probe.timing));
  // The final run always gets a line, because users attach profilers to it.
  if (probe.request.phase == ProbePhase::kFinal) return line_.Write(text);
  line_.Show(text);
}

std::string SearchDisplay::TimeText(const ProbeTiming& timing) const {
  const std::string duration = absl::FormatDuration(timing.measured);
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
  const TrafficProgress& progress = event.progress();
  // Used for display only.
  results::AddHistogram(progress.has_recent_response_time_ns()
                            ? progress.recent_response_time_ns()
                            : progress.recent_service_time_ns(),
                        latency_ns_)
      .IgnoreError();
  if (now_ns - shown_ns_ < kDrawIntervalNs) return;
  count_ = progress.succeeded_count();
  line_.Show(absl::StrFormat("probe %d %s %.6g: %s, %s", probe_.number,
                             ToString(probe_.request.phase),
                             probe_.request.load, Status(now_ns),
                             BracketText(probe_.met, probe_.missed)));
  shown_ns_ = now_ns;
  shown_count_ = count_;
  latency_ns_.Clear();
}

std::string SearchDisplay::Status(int64_t now_ns) const {
  const int64_t total_ns =
      absl::ToInt64Nanoseconds(probe_.timing.warmup + probe_.timing.measured);
  const int64_t left_ns = std::max<int64_t>(0, started_ns_ + total_ns - now_ns);
  std::string text = absl::StrFormat(
      "%d s left, %.6g RPCs per second",
      (left_ns + base::kNsPerSecond - 1) / base::kNsPerSecond,
      static_cast<double>(count_ - shown_count_) * base::kNsPerSecond /
          static_cast<double>(now_ns - shown_ns_));
  if (latency_ns_.count() > 0) {
    absl::StrAppendFormat(
        &text, ", p99 %.3g ms",
        static_cast<double>(latency_ns_.ValueAtQuantile(0.99)) / 1e6);
  }
  return text;
}

void SearchDisplay::Observe(const SearchReport& report,
                            const SearchProbe& probe) {
  const Bracket bracket = BracketOf(report);
  std::string bar;
  if (line_.options().terminal) {
    bar = BracketBar(report, kBarWidth);
    if (!bar.empty()) bar += " ";
  }
  line_.Write(absl::StrFormat("%sprobe %d %s %.6g %s: %s; %s", bar,
                              probe.number(), probe.phase(),
                              probe.requested_load(), probe.outcome(),
                              absl::StrJoin(probe.measured(), "; "),
                              BracketText(bracket.met, bracket.missed)));
  for (const std::string& failure : probe.instance_failures()) {
    line_.Write(absl::StrCat("  ", failure));
  }
}

void SearchDisplay::ShowVerdict(const SearchReport& report) {
  line_.Write(absl::StrCat("Verdict", report.simulated() ? " (simulated)" : "",
                           ": ", report.verdict()));
  if (report.has_load()) {
    line_.Write(absl::StrCat(report.finds_lowest() ? "Lowest" : "Highest",
                             " load that met: ", SearchAnswer(report)));
  }
  line_.Write(absl::StrCat("Evidence: ", report.evidence()));
}

std::string BracketBar(const SearchReport& report, int width) {
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
  const Bracket bracket = BracketOf(report);
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
