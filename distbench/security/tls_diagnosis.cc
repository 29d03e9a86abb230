// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/tls_diagnosis.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/host_port.h"
#include "distbench/base/lookup.h"
#include "distbench/security/job_secret.h"

namespace distbench::security {
namespace {

struct FreeSsl {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// A blocking connection with a timeout. Its descriptor is -1 if connecting
// failed.
class Socket {
 public:
  Socket(const std::string& host, const std::string& port,
         absl::Duration timeout) {
    const absl::StatusOr<base::AddressList> all = base::LookUp(host, port);
    if (!all.ok()) return;
    for (const addrinfo* info = all->get(); info && fd_ < 0;
         info = info->ai_next) {
      Connect(*info, timeout);
    }
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

 private:
  void Connect(const addrinfo& info, absl::Duration timeout) {
    fd_ = socket(info.ai_family, info.ai_socktype | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return;
    const timeval limit = absl::ToTimeval(timeout);
    // The send timeout also applies to connect().
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd_, info.ai_addr, info.ai_addrlen) == 0) return;
    close(fd_);
    fd_ = -1;
  }

  int fd_ = -1;
};

std::string TakeReason() {
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return reason == nullptr ? "" : reason;
}

// How a diagnosis names what the user gave this process, and what to check.
struct Words {
  std::string own_certificate;
  std::string is_unknown;  // to the server, which refuses it
  std::string who_signed;  // the server's certificate
  std::string right_name;
  std::string without_tls;  // how the server was started
};

// Who has a job's secret gave no certificates, and knows no flags for them.
Words WordsFor(const TlsFiles& files) {
  if (files.name == kJobName) {
    return {.own_certificate =
                absl::StrCat("the secret's certificate ", files.cert),
            .is_unknown = "it has another secret",
            .who_signed = absl::StrCat("is ", files.ca, " of another secret?"),
            .right_name = "is that the leader of a job?",
            .without_tls = "was it started with --plain?"};
  }
  return {.own_certificate =
              absl::StrCat("the certificate of --tls_cert=", files.cert),
          .is_unknown = "its --tls_ca does not name who signed it",
          .who_signed =
              absl::StrCat("does --tls_ca=", files.ca, " name who signed it?"),
          .right_name = "is that the sequencer, and is --tls_name right?",
          .without_tls = "was it started with --tls_cert and --tls_key?"};
}

// Explains the alert with which the peer refused the handshake.
std::string ExplainAlert(const std::string& address, const std::string& reason,
                         const Words& words) {
  if (absl::StrContains(reason, "certificate required") ||
      absl::StrContains(reason, "handshake failure")) {
    return absl::StrCat(address,
                        " asks for a client certificate; give --tls_cert and "
                        "--tls_key");
  }
  const std::string refuses =
      absl::StrCat(address, " refuses ", words.own_certificate, ": ");
  if (absl::StrContains(reason, "unknown ca")) {
    return absl::StrCat(refuses, words.is_unknown);
  }
  if (absl::StrContains(reason, "certificate expired")) {
    return absl::StrCat(refuses, "it has expired; renew it");
  }
  if (absl::StrContains(reason, "alert")) {
    return absl::StrCat(address, " refuses the TLS handshake (", reason,
                        "); does ", words.own_certificate,
                        " allow what it is used for?");
  }
  return "";
}

// With TLS 1.3, a server refuses a client when the client considers itself
// connected; gRPC's servers then close the connection silently. Servers that
// accept the client send first.
std::string ExplainHangup(const std::string& address, SSL* ssl,
                          const TlsFiles& files, const Words& words) {
  char byte;
  ERR_clear_error();
  const int received = SSL_read(ssl, &byte, 1);
  if (received > 0) return "";
  const bool timed_out = SSL_get_error(ssl, received) == SSL_ERROR_WANT_READ;
  const std::string alert = ExplainAlert(address, TakeReason(), words);
  if (timed_out || !alert.empty()) return alert;
  if (files.cert.empty()) {
    return ExplainAlert(address, "certificate required", words);
  }
  return absl::StrCat(address, " refuses ", words.own_certificate, ": ",
                      words.is_unknown,
                      ", or it has expired by that host's clock");
}

std::string ExplainCertificate(const std::string& address, long result,
                               const TlsFiles& files, const Words& words) {
  const char* const text = X509_verify_cert_error_string(result);
  switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      if (!files.name.empty()) {
        return absl::StrCat("the certificate of ", address,
                            " does not have the name ", files.name, "; ",
                            words.right_name);
      }
      return absl::StrCat("the certificate of ", address,
                          " is for another host; name the host as its "
                          "certificate does, or have one made for this name");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::StrCat("the certificate of ", address,
                          " has expired; renew it there");
    default:
      return absl::StrCat("the certificate of ", address, " is not accepted (",
                          text, "); ", words.who_signed);
  }
}

std::unique_ptr<SSL_CTX, FreeSsl> MakeContext(const TlsFiles& files) {
  std::unique_ptr<SSL_CTX, FreeSsl> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_load_verify_locations(context.get(), files.ca.c_str(), nullptr);
  if (!files.cert.empty()) {
    SSL_CTX_use_certificate_chain_file(context.get(), files.cert.c_str());
    SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(),
                                SSL_FILETYPE_PEM);
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  return context;
}

void ExpectHost(SSL* ssl, const std::string& host) {
  SSL_set_tlsext_host_name(ssl, host.c_str());
  X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) != 1) {
    ERR_clear_error();
    SSL_set1_host(ssl, host.c_str());
  }
}

}  // namespace

std::string DiagnoseTls(const std::string& address, const TlsFiles& files,
                        ServerName server_name, absl::Duration timeout) {
  const auto [host, port] = base::SplitHostPort(address);
  const Socket socket(host, port, timeout);
  if (socket.fd() < 0) return "";
  const auto context = MakeContext(files);
  const std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context.get()));
  // The protocol that gRPC uses, which its servers require.
  constexpr unsigned char kAlpn[] = "\x02h2";
  SSL_set_alpn_protos(ssl.get(), kAlpn, sizeof(kAlpn) - 1);
  SSL_set_fd(ssl.get(), socket.fd());
  if (server_name == ServerName::kChecked) {
    ExpectHost(ssl.get(), files.name.empty() ? host : files.name);
  }

  const bool connected = SSL_connect(ssl.get()) == 1;
  const long verified = SSL_get_verify_result(ssl.get());
  const Words words = WordsFor(files);
  if (!connected && verified != X509_V_OK) {
    ERR_clear_error();
    return ExplainCertificate(address, verified, files, words);
  }
  if (connected) return ExplainHangup(address, ssl.get(), files, words);
  const std::string reason = TakeReason();
  const std::string refusal = ExplainAlert(address, reason, words);
  if (!refusal.empty()) return refusal;
  return absl::StrCat(address, " does not answer with TLS",
                      reason.empty() ? "" : absl::StrCat(" (", reason, ")"),
                      "; ", words.without_tls);
}

bool WantsTls(const std::string& address, absl::Duration timeout) {
  const auto [host, port] = base::SplitHostPort(address);
  const Socket socket(host, port, timeout);
  if (socket.fd() < 0) return false;
  const std::unique_ptr<SSL_CTX, FreeSsl> context(
      SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  const std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context.get()));
  SSL_set_fd(ssl.get(), socket.fd());
  const bool answered = SSL_connect(ssl.get()) == 1 ||
                        SSL_get0_peer_certificate(ssl.get()) != nullptr;
  ERR_clear_error();
  return answered;
}

}  // namespace distbench::security
