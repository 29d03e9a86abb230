// What runs tests: a sequencer, or a fake one.

#ifndef DISTBENCH_TEST_BUILDER_RUN_TEST_BACKEND_H_
#define DISTBENCH_TEST_BUILDER_RUN_TEST_BACKEND_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/client/test_client.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// Runs tests. For use by one thread, except for Cancel().
class TestBackend {
 public:
  virtual ~TestBackend() = default;

  // Makes sure that tests can be run; returns at once if so. The error says
  // what was tried and what to check.
  virtual absl::Status Connect() = 0;

  using EventObserver = absl::FunctionRef<void(const RunTestsEvent& event)>;

  // Runs one test, after Connect() has succeeded. See TestClient::RunTests().
  virtual absl::Status Run(const DistributedSystemDescription& test,
                           EventObserver observer,
                           TestSequenceResults& results) = 0;

  // Ends a Run() in progress. May be called by any thread.
  virtual void Cancel() = 0;
};

// The sequencer at an address. If the connection is lost, Connect() reconnects.
class SequencerBackend final : public TestBackend {
 public:
  // address: "HOST:PORT".
  SequencerBackend(std::string address, security::TlsFiles tls);

  absl::Status Connect() override;
  absl::Status Run(const DistributedSystemDescription& test,
                   EventObserver observer,
                   TestSequenceResults& results) override;
  void Cancel() override;

 private:
  std::shared_ptr<client::TestClient> client() const;
  void set_client(std::shared_ptr<client::TestClient> client);

  const std::string address_;
  const security::TlsFiles tls_;
  mutable absl::Mutex mutex_;
  // Shared with concurrent calls of Cancel().
  std::shared_ptr<client::TestClient> client_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_TEST_BACKEND_H_
