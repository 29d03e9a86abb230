// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Creates certificates for tests.

#ifndef DISTBENCH_SECURITY_TESTING_TESTING_CERTIFICATES_H_
#define DISTBENCH_SECURITY_TESTING_TESTING_CERTIFICATES_H_

#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

namespace distbench::security {

struct CertificateRequest {
  std::string common_name;
  // In openssl's syntax: "DNS:localhost", "IP:127.0.0.1".
  std::vector<std::string> alternative_names;
  // Counted from now; a negative validity has expired.
  absl::Duration validity = absl::Hours(1);
};

// A certificate authority. It signs certificates and writes them to a temporary
// directory that it owns.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  ~TestAuthority();

  // The file with the authority's certificate.
  const std::string& ca_file() const { return ca_file_; }

  // Creates NAME.crt and NAME.key, replacing existing files. Returns all three
  // files.
  TlsFiles Issue(const std::string& name,
                 const CertificateRequest& request) const;

  // Same, for all names of localhost.
  TlsFiles IssueForLocalhost(const std::string& name) const;

 private:
  struct Free {
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };

  std::string directory_;
  std::string ca_file_;
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::unique_ptr<X509, Free> certificate_;
};

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_TESTING_TESTING_CERTIFICATES_H_
