#include "distbench/products/simulation/simulation_display.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/time_units.h"
#include "distbench/client/fitted_line.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kLogIntervalNs = 5 * base::kNsPerSecond;
constexpr absl::string_view kEraseLine = "\r\x1b[K";

double InSeconds(int64_t ns) {
  return static_cast<double>(ns) / base::kNsPerSecond;
}

std::string ProgressLine(const std::string& title,
                         const SimulationProgress& progress, size_t room) {
  return client::FitLine(
      {{title, 1, false},
       {absl::StrFormat("%.3f s simulated", InSeconds(progress.simulated_ns)),
        0},
       {absl::StrCat(progress.succeeded, " RPCs"), 2},
       {absl::StrCat(progress.failed, " failed"), 3},
       {absl::StrCat(progress.events, " events"), 4}},
      room);
}

}  // namespace

SimulationDisplay::SimulationDisplay(client::ProgressDisplayOptions options)
    : options_(std::move(options)) {}

SimulationDisplay::~SimulationDisplay() { Clear(); }

void SimulationDisplay::ShowStart(int test_index, const std::string& name) {
  title_ = absl::StrFormat("[%d/%d] %s: ", test_index + 1, options_.test_count,
                           name);
  started_ns_ = shown_ns_ = options_.clock->MonotonicNs();
  const std::string text = title_ + "simulating";
  options_.terminal ? Draw(text) : options_.write(text + "\n");
}

void SimulationDisplay::Show(const SimulationProgress& progress) {
  if (options_.terminal) {
    // The last column stays free: writing to it may begin a new line.
    return Draw(
        ProgressLine(title_, progress, std::max(options_.columns - 1, 0)));
  }
  const int64_t now_ns = options_.clock->MonotonicNs();
  if (now_ns - shown_ns_ < kLogIntervalNs) return;
  shown_ns_ = now_ns;
  options_.write(ProgressLine(title_, progress, std::string::npos) + "\n");
}

void SimulationDisplay::ShowEnd(const TestResult& result) {
  Clear();
  options_.write(
      absl::StrFormat("%s%s after %.1f s, simulated %.3f s\n", title_,
                      result.run_info().has_failure() ? "failed" : "done",
                      InSeconds(options_.clock->MonotonicNs() - started_ns_),
                      result.simulation().simulated_seconds()));
}

void SimulationDisplay::Clear() {
  if (!drawn_) return;
  options_.write(kEraseLine);
  drawn_ = false;
}

void SimulationDisplay::Draw(absl::string_view text) {
  const size_t room = std::max(options_.columns - 1, 0);
  options_.write(absl::StrCat(kEraseLine, text.substr(0, room)));
  drawn_ = true;
}

}  // namespace distbench::simulation
