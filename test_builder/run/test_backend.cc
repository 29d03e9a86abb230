#include "test_builder/run/test_backend.h"

#include <utility>

#include "absl/status/statusor.h"

namespace distbench::test_builder {

SequencerBackend::SequencerBackend(std::string address, security::TlsFiles tls)
    : address_(std::move(address)), tls_(std::move(tls)) {}

absl::Status SequencerBackend::Connect() {
  if (client() != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address_, tls_);
  if (!client.ok()) return client.status();
  set_client(*std::move(client));
  return absl::OkStatus();
}

absl::Status SequencerBackend::Run(const DistributedSystemDescription& test,
                                   EventObserver observer,
                                   TestSequenceResults& results) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  const absl::Status status = client()->RunTests(sequence, observer, results);
  if (absl::IsUnavailable(status)) set_client(nullptr);
  return status;
}

void SequencerBackend::Cancel() {
  if (const std::shared_ptr<client::TestClient> running = client())
    running->Cancel();
}

std::shared_ptr<client::TestClient> SequencerBackend::client() const {
  absl::MutexLock lock(&mutex_);
  return client_;
}

void SequencerBackend::set_client(std::shared_ptr<client::TestClient> client) {
  absl::MutexLock lock(&mutex_);
  client_ = std::move(client);
}

}  // namespace distbench::test_builder
