// Certificates for tests, made on the spot.

#ifndef DISTBENCH_SECURITY_TESTING_TESTING_CERTIFICATES_H_
#define DISTBENCH_SECURITY_TESTING_TESTING_CERTIFICATES_H_

#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

namespace distbench {

struct CertificateRequest {
  std::string common_name;
  // As in openssl's configuration: "DNS:localhost", "IP:127.0.0.1".
  std::vector<std::string> alternative_names;
  // From now; negative: it has expired.
  absl::Duration validity = absl::Hours(1);
};

// An authority, which signs certificates and writes them to a directory of the
// test that is made for it.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  ~TestAuthority();

  // The authority's own certificate.
  const std::string& ca_file() const { return ca_file_; }

  // Makes NAME.crt and NAME.key, instead of those there may be. Returns all
  // three files.
  TlsFiles Issue(const std::string& name,
                 const CertificateRequest& request) const;

  // For localhost, in all its forms.
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

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_TESTING_TESTING_CERTIFICATES_H_
