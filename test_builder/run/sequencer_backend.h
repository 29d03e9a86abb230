#ifndef DISTBENCH_TEST_BUILDER_RUN_SEQUENCER_BACKEND_H_
#define DISTBENCH_TEST_BUILDER_RUN_SEQUENCER_BACKEND_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/client/test_client.h"
#include "distbench/security/tls_files.h"
#include "test_builder/run/test_backend.h"

namespace distbench::test_builder {

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

#endif  // DISTBENCH_TEST_BUILDER_RUN_SEQUENCER_BACKEND_H_
