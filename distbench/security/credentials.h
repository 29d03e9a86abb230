// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Credentials of gRPC channels and servers: TLS with the files that the user
// named, or plain text.

#ifndef DISTBENCH_SECURITY_CREDENTIALS_H_
#define DISTBENCH_SECURITY_CREDENTIALS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/security/tls_files.h"

namespace distbench::security {

// Credentials of gRPC's core API.
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

// The certificates of a process. Changed files are read again within
// kReloadSeconds, and apply to connections made from then on. Thread-safe.
class TlsCredentials {
 public:
  static constexpr unsigned int kReloadSeconds = 5;

  // Returns null if `files` is empty. The error names the flag and the file.
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

// In the functions below, null means plain text.

// Returns a channel to the sequencer at "HOST:PORT", whose certificate must
// have the name that the files ask for, or else match the host.
std::shared_ptr<grpc::Channel> MakeSequencerChannel(
    const std::string& address, const TlsCredentials* tls,
    grpc::ChannelArguments arguments);

// For a channel to another node, whose certificate must be signed by the CA.
// Its name is not checked, because nodes use addresses that are chosen for each
// test.
CoreChannelCredentials PeerChannelCredentials(const TlsCredentials* tls);

// For servers. If there is a CA, clients must have a certificate that it
// signed.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(
    const TlsCredentials* tls);
CoreServerCredentials MakeCoreServerCredentials(const TlsCredentials* tls);

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_CREDENTIALS_H_
