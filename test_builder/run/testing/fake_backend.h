// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_TEST_BUILDER_RUN_TESTING_FAKE_BACKEND_H_
#define DISTBENCH_TEST_BUILDER_RUN_TESTING_FAKE_BACKEND_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "test_builder/run/test_runner.h"

namespace distbench::test_builder {

// A plausible result of the test `name`: `count` RPCs called `rpc` within a
// second, each answered after latency_ns.
TestResult FakeResult(const std::string& name, const std::string& rpc,
                      int64_t count, int64_t latency_ns);

// Runs nothing. Tests succeed with a FakeResult(), unless a body was set.
class FakeBackend final : public TestBackend {
 public:
  using Body = std::function<absl::Status(const EventObserver& observer,
                                          TestSequenceResults& results)>;

  // Sets what happens when the test with this name runs.
  void SetBody(const std::string& name, Body body) { bodies_[name] = body; }

  void set_connect_status(absl::Status status) { connect_status_ = status; }
  const std::vector<std::string>& tests_run() const { return tests_run_; }
  int cancel_count() const { return cancel_count_; }

  absl::Status Connect() override { return connect_status_; }
  absl::Status Run(const DistributedSystemDescription& test,
                   EventObserver observer,
                   TestSequenceResults& results) override;
  void Cancel() override { ++cancel_count_; }

 private:
  absl::Status connect_status_;
  std::map<std::string, Body> bodies_;
  std::vector<std::string> tests_run_;
  int cancel_count_ = 0;
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_TESTING_FAKE_BACKEND_H_
