// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/credentials.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace distbench::security {
namespace {

namespace tls_api = grpc::experimental;

std::shared_ptr<tls_api::FileWatcherCertificateProvider> Watch(
    const TlsFiles& files) {
  return std::make_shared<tls_api::FileWatcherCertificateProvider>(
      files.key, files.cert, files.ca, TlsCredentials::kReloadSeconds);
}

// Each channel and server takes ownership of its options.
tls_api::TlsChannelCredentialsOptions ChannelOptions(
    const TlsCredentials& tls) {
  tls_api::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(tls.provider());
  options.watch_root_certs();
  if (!tls.files().cert.empty()) options.watch_identity_key_cert_pairs();
  return options;
}

tls_api::TlsServerCredentialsOptions ServerOptions(const TlsCredentials& tls) {
  tls_api::TlsServerCredentialsOptions options(tls.provider());
  options.watch_identity_key_cert_pairs();
  if (!tls.files().ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return options;
}

}  // namespace

TlsCredentials::TlsCredentials(const TlsFiles& files)
    : files_(files), provider_(Watch(files)) {}

absl::StatusOr<std::shared_ptr<const TlsCredentials>> TlsCredentials::Load(
    const TlsFiles& files, TlsRole role) {
  const absl::Status status = CheckTlsFiles(files, role);
  if (!status.ok()) return status;
  if (files.empty()) return std::shared_ptr<const TlsCredentials>();
  return std::shared_ptr<const TlsCredentials>(new TlsCredentials(files));
}

std::shared_ptr<grpc::Channel> MakeSequencerChannel(
    const std::string& address, const TlsCredentials* tls,
    grpc::ChannelArguments arguments) {
  if (tls == nullptr) {
    return grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments);
  }
  // gRPC then checks the certificate against this name, instead of the host's.
  if (!tls->files().name.empty()) {
    arguments.SetSslTargetNameOverride(tls->files().name);
  }
  return grpc::CreateCustomChannel(
      address, tls_api::TlsCredentials(ChannelOptions(*tls)), arguments);
}

CoreChannelCredentials PeerChannelCredentials(const TlsCredentials* tls) {
  if (tls == nullptr) {
    return CoreChannelCredentials(grpc_insecure_credentials_create());
  }
  tls_api::TlsChannelCredentialsOptions options = ChannelOptions(*tls);
  options.set_certificate_verifier(
      std::make_shared<tls_api::NoOpCertificateVerifier>());
  options.set_check_call_host(false);
  return CoreChannelCredentials(
      grpc_tls_credentials_create(options.c_credentials_options()));
}

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(
    const TlsCredentials* tls) {
  if (tls == nullptr) return grpc::InsecureServerCredentials();
  return tls_api::TlsServerCredentials(ServerOptions(*tls));
}

CoreServerCredentials MakeCoreServerCredentials(const TlsCredentials* tls) {
  if (tls == nullptr) {
    return CoreServerCredentials(grpc_insecure_server_credentials_create());
  }
  const tls_api::TlsServerCredentialsOptions options = ServerOptions(*tls);
  return CoreServerCredentials(
      grpc_tls_server_credentials_create(options.c_credentials_options()));
}

}  // namespace distbench::security
