// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The common parts of the tests of ProgressDisplay.

#ifndef DISTBENCH_CLIENT_TESTING_PROGRESS_DISPLAY_FIXTURE_H_
#define DISTBENCH_CLIENT_TESTING_PROGRESS_DISPLAY_FIXTURE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/client/progress_display.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::client {

inline constexpr int64_t kSecondNs = 1'000'000'000;

class ProgressDisplayTest : public testing::Test {
 protected:
  ProgressDisplayOptions Options() {
    ProgressDisplayOptions options;
    options.test_count = 3;
    options.clock = &clock_;
    options.write = [this](absl::string_view text) {
      output_ += std::string(text);
    };
    return options;
  }

  ProgressDisplayOptions TerminalOptions() {
    ProgressDisplayOptions options = Options();
    options.terminal = true;
    return options;
  }

  RunTestsEvent Started(int64_t expected_duration_us) {
    started_ns_ = clock_.MonotonicNs();
    RunTestsEvent event;
    event.set_test_index(1);
    event.mutable_started()->set_name("incast");
    if (expected_duration_us > 0) {
      event.mutable_started()->set_expected_duration_us(expected_duration_us);
    }
    return event;
  }

  // The counts are new.
  RunTestsEvent Progress(int64_t succeeded, int64_t failed) const {
    RunTestsEvent event;
    event.set_test_index(1);
    event.mutable_progress()->set_succeeded_count(succeeded);
    event.mutable_progress()->set_failed_count(failed);
    event.mutable_progress()->set_traffic_time_ns(clock_.MonotonicNs() -
                                                  started_ns_);
    return event;
  }

  static RunTestsEvent Finished() {
    RunTestsEvent event;
    event.set_test_index(1);
    event.mutable_finished();
    return event;
  }

  static Histogram Of(int64_t value) {
    stats::LogHistogram histogram;
    histogram.Record(value);
    Histogram proto;
    results::EncodeHistogram(histogram, proto);
    return proto;
  }

  // Returns the output since the last call.
  std::string TakeOutput() { return std::exchange(output_, ""); }

  base::FakeClock clock_;
  int64_t started_ns_ = 0;
  std::string output_;
};

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_TESTING_PROGRESS_DISPLAY_FIXTURE_H_
