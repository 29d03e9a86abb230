// Submits tests to a sequencer and brings back results: the way of every
// command that runs something.

#ifndef DISTBENCH_CLIENT_TEST_CLIENT_H_
#define DISTBENCH_CLIENT_TEST_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace grpc {
class Channel;
}

namespace distbench {

// Thread-safe. Each method blocks its caller, but for AbandonRun().
class TestClient {
 public:
  // address: "HOST:PORT". Connects at once; the error says what was tried and
  // what to check. tls: of a client; no files: no TLS.
  static absl::StatusOr<std::unique_ptr<TestClient>> Connect(
      const std::string& address, const TlsFiles& tls = {},
      absl::Duration timeout = absl::Seconds(5));

  // Over a channel that the caller made, such as one to its own process.
  explicit TestClient(std::shared_ptr<grpc::Channel> channel);
  ~TestClient();

  // Told of everything but result chunks, in order, on the caller's thread.
  using EventObserver = absl::FunctionRef<void(const RunTestsEvent& event)>;

  // Runs the tests. A test that failed is in the results with
  // run_info.failure, and what it measured. An error means that the sequencer
  // refused the tests, was lost, or that Cancel() was called; `results` then
  // holds what had arrived. After UNAVAILABLE, the run may go on without us.
  absl::Status RunTests(const RunTestsRequest& request, EventObserver observer,
                        TestSequenceResults& results);

  // The same; the run ends with the caller's process.
  absl::Status RunTests(const TestSequence& sequence, EventObserver observer,
                        TestSequenceResults& results);

  // Submits the tests, and returns the run's id.
  absl::StatusOr<std::string> Submit(const RunTestsRequest& request);

  absl::StatusOr<GetStatusResponse> GetStatus();

  // Oldest first.
  absl::StatusOr<std::vector<RunDescription>> ListRuns();

  // Follows a run until it ends; with `wait` also one that has not ended yet.
  // As RunTests(), but that Cancel() leaves the run alone.
  absl::Status GetRun(const RunDescription& run, bool wait,
                      EventObserver observer, TestSequenceResults& results);

  // NOT_FOUND, or FAILED_PRECONDITION if it has ended.
  absl::Status CancelRun(const std::string& run_id);

  // Cancels the runs of all RunTests() that are under way, which return once
  // what was measured has arrived, and makes every later call of RunTests() or
  // GetRun() fail. Any thread; takes no longer than a few seconds.
  void Cancel();

  // Ends the RunTests() that is under way, if any, and no later one: its tests
  // end, and what they measured is lost. Any thread, the observer's included.
  void AbandonRun();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_TEST_CLIENT_H_
