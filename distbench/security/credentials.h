// How gRPC's channels and servers secure their connections: by TLS, with the
// files that the user named, or not at all.

#ifndef DISTBENCH_SECURITY_CREDENTIALS_H_
#define DISTBENCH_SECURITY_CREDENTIALS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/security/tls_files.h"

namespace distbench {

// Those of gRPC's core.
struct ReleaseCoreCredentials {
  void operator()(grpc_channel_credentials* credentials) const {
    grpc_channel_credentials_release(credentials);
  }
  void operator()(grpc_server_credentials* credentials) const {
    grpc_server_credentials_release(credentials);
  }
};
using CoreChannelCredentials =
    std::unique_ptr<grpc_channel_credentials, ReleaseCoreCredentials>;
using CoreServerCredentials =
    std::unique_ptr<grpc_server_credentials, ReleaseCoreCredentials>;

// The certificates of a process. They are read again when their files change:
// within kReloadSeconds, for connections that are made from then on.
// Thread-safe.
class TlsCredentials {
 public:
  static constexpr unsigned int kReloadSeconds = 5;

  // Null if there are no files. The error names the flag and the file.
  static absl::StatusOr<std::shared_ptr<const TlsCredentials>> Load(
      const TlsFiles& files, TlsRole role);

  const TlsFiles& files() const { return files_; }

  std::shared_ptr<grpc::experimental::CertificateProviderInterface> provider()
      const {
    return provider_;
  }

 private:
  explicit TlsCredentials(const TlsFiles& files);

  const TlsFiles files_;
  const std::shared_ptr<grpc::experimental::FileWatcherCertificateProvider>
      provider_;
};

// In all of these null stands for connections in plain text.

// To a sequencer: its certificate must be for the host as the user wrote it.
std::shared_ptr<grpc::ChannelCredentials> SequencerChannelCredentials(
    const TlsCredentials* tls);

// To another node: its certificate must be signed by the CA, but may have any
// name, since nodes are found by addresses that are chosen for each test.
CoreChannelCredentials PeerChannelCredentials(const TlsCredentials* tls);

// Of servers. With a CA, clients must have a certificate that it signed.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(
    const TlsCredentials* tls);
CoreServerCredentials MakeCoreServerCredentials(const TlsCredentials* tls);

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_CREDENTIALS_H_
