// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_TESTING_FAKE_SEQUENCER_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_TESTING_FAKE_SEQUENCER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "proto/control.pb.h"

namespace distbench::dashboard {

// A sequencer whose state a test sets.
class FakeSequencer : public sequencer::SequencerServer {
 public:
  int port() const override { return 0; }
  const std::vector<RunDescription>& interrupted_runs() const override {
    return runs;
  }
  int metrics_port() const override { return 0; }
  std::shared_ptr<grpc::Channel> InProcessChannel() override { return nullptr; }
  GetStatusResponse Status() const override {
    ++looks;
    return status;
  }
  std::vector<RunDescription> UnfinishedRuns() const override { return runs; }
  bool IsTestRunning() const override { return true; }
  absl::Status CancelRun(const std::string& /*run_id*/,
                         const std::string& /*who*/) override {
    return absl::OkStatus();
  }
  void EndRuns() override {}
  bool EndNodes(absl::Duration /*patience*/) override { return true; }
  void Shutdown() override {}

  GetStatusResponse status;
  std::vector<RunDescription> runs;
  mutable int looks = 0;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_TESTING_FAKE_SEQUENCER_H_
