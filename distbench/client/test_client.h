// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Submits tests to a sequencer and fetches their results. Every command that
// runs tests uses this.

#ifndef DISTBENCH_CLIENT_TEST_CLIENT_H_
#define DISTBENCH_CLIENT_TEST_CLIENT_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace grpc {
class Channel;
template <class Event>
class ClientReader;
}  // namespace grpc

namespace distbench::client {

// Thread-safe. Every method except AbandonRun() blocks its caller.
class TestClient {
 public:
  // Connects to "HOST:PORT". The error says what was tried and what to check.
  // `tls` holds a client's files; without files, TLS is not used.
  static absl::StatusOr<std::unique_ptr<TestClient>> Connect(
      const std::string& address, const security::TlsFiles& tls = {},
      absl::Duration timeout = absl::Seconds(5));

  // Uses a channel that the caller made, such as one within its own process.
  explicit TestClient(std::shared_ptr<grpc::Channel> channel);

  // Receives all events except result chunks, in order, on the caller's thread.
  using EventObserver = absl::FunctionRef<void(const RunTestsEvent& event)>;

  // Runs the tests. A failed test is in the results, with run_info.failure and
  // what it measured. An error means that the sequencer rejected the tests or
  // lost their results (DATA_LOSS), that it was lost (UNAVAILABLE: the run may
  // still go on), or that the run was cut short by Cancel() or because the
  // sequencer was shut down (CANCELLED); `results` then holds what had arrived.
  absl::Status RunTests(const RunTestsRequest& request, EventObserver observer,
                        TestSequenceResults& results)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The same, but the run ends with the caller's process.
  absl::Status RunTests(const TestSequence& sequence, EventObserver observer,
                        TestSequenceResults& results)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Submits the tests and returns the run's id.
  absl::StatusOr<std::string> Submit(const RunTestsRequest& request);

  absl::StatusOr<GetStatusResponse> GetStatus(
      absl::Duration timeout = kStatusTimeout);

  // The same, with what the nodes say of their hosts.
  absl::StatusOr<GetStatusResponse> GetStatusWithHosts();

  // Returns the oldest run first.
  absl::StatusOr<std::vector<RunDescription>> ListRuns();

  // Follows a run until it ends; without `wait`, the run must have ended. Works
  // as RunTests(), except that Cancel() does not affect the run.
  absl::Status GetRun(const RunDescription& run, bool wait,
                      EventObserver observer, TestSequenceResults& results)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Fails with NOT_FOUND, or with FAILED_PRECONDITION if the run has ended.
  absl::Status CancelRun(const std::string& run_id);

  // Cancels the runs of all RunTests() calls, which return once the
  // measurements have arrived, and makes all later calls of RunTests() and
  // GetRun() fail. May be called on any thread; takes a few seconds at most.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the current RunTests() call, if any, but no later one: its tests end,
  // and their measurements are lost. May be called on any thread, also by the
  // observer.
  void AbandonRun() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr absl::Duration kStatusTimeout = absl::Seconds(10);

  // A call that follows a run.
  struct RunCall;

  absl::StatusOr<GetStatusResponse> GetStatus(const GetStatusRequest& request,
                                              absl::Duration timeout);

  // Reads the events of a call, passes them on, and assembles their results.
  absl::Status Follow(RunCall& call, grpc::ClientReader<RunTestsEvent>& reader,
                      int test_count, EventObserver observer,
                      TestSequenceResults& results) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetRunId(const std::string& run_id, RunCall& call)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Cancels the run, or else stops following it. A run that has ended is fine.
  void CancelOrLeave(const std::string& run_id) ABSL_LOCKS_EXCLUDED(mutex_);

  // RegisterCall() returns false if the call must not be made; UnregisterCall()
  // whether it was cancelled.
  bool RegisterCall(RunCall& call) ABSL_LOCKS_EXCLUDED(mutex_);
  bool UnregisterCall(RunCall& call) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<grpc::Channel> channel_;
  absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<RunCall*> calls_ ABSL_GUARDED_BY(mutex_);
};

// Turns gRPC's error about an unreachable sequencer into a message for people:
// what was tried, what happened and what to check. Keeps the code.
absl::Status ExplainConnectionError(const absl::Status& error,
                                    const std::string& address,
                                    absl::Duration timeout);

// Repeats tests, so that the spread between runs can be measured.

// Returns the tests `repetitions` times (at least 1). All tests run once before
// any runs again, so that slow changes, such as in temperature, affect all of
// them alike. Each run is set up afresh, as every test of a sequence is.
TestSequence RepeatTests(const TestSequence& tests, int repetitions);

// Numbers the results of such a sequence, of which there may be fewer than
// tests. `test_count` is the number of tests before the repetition.
void NumberRepetitions(int test_count, TestSequenceResults& results);

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_TEST_CLIENT_H_
