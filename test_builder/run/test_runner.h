// Runs tests one after the other and files what they measure.

#ifndef DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_
#define DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/client/progress_display.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/result_directory.h"
#include "test_builder/run/outcome.h"
#include "test_builder/run/test_backend.h"

namespace distbench {

struct RunConsole {
  // Summaries and the table; what is under way and what went wrong.
  std::ostream* output;
  std::ostream* messages;

  ProgressDisplayOptions progress;

  // Whether the user has asked to stop. Whoever notices first also calls
  // TestBackend::Cancel(), so that a test which runs ends.
  std::function<bool()> stop_requested;
};

class TestRunner {
 public:
  // All outlive the runner.
  TestRunner(TestBackend& backend, const ResultDirectory& directory,
             RunConsole console);

  // Runs the tests that have no result yet. A test that fails does not keep the
  // next one from running; a sequencer that can not be reached, and a request
  // to stop, do. Returns the outcome of every test, in order.
  std::vector<TestOutcome> RunAll(
      absl::Span<const DistributedSystemDescription> tests);

 private:
  TestOutcome RunOne(const DistributedSystemDescription& test);
  TestOutcome Keep(const DistributedSystemDescription& test);
  TestOutcome Finish(const DistributedSystemDescription& test,
                     const absl::Status& status,
                     const TestSequenceResults& results);
  void Announce(const DistributedSystemDescription& test);
  absl::Status RunWithProgress(const DistributedSystemDescription& test,
                               TestSequenceResults& results);

  // How many of the tests will run, and for how long.
  void SayWhatIsLeft(absl::Span<const DistributedSystemDescription> tests);

  // A line among the messages.
  void Say(absl::string_view text);

  TestBackend& backend_;
  const ResultDirectory& directory_;
  const RunConsole console_;

  // Of the test that runs, among all.
  int position_ = 0;
  // The sequencer is gone.
  bool unreachable_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_
