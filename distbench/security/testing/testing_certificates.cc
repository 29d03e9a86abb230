// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/testing/testing_certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "glog/logging.h"

namespace distbench::security {
namespace {

constexpr absl::Duration kAge = absl::Hours(24);

std::string NewDirectory() {
  const char* root = std::getenv("TEST_TMPDIR");
  std::string path =
      absl::StrCat(root != nullptr ? root : "/tmp", "/certificates.XXXXXX");
  CHECK(mkdtemp(path.data()) != nullptr);
  return path;
}

void AddExtension(X509* certificate, X509* issuer, int nid,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  CHECK(extension != nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* NewCertificate(EVP_PKEY* key, const std::string& common_name,
                     absl::Duration validity) {
  static std::atomic<long> serial = 1;
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate),
                  -absl::ToInt64Seconds(kAge));
  X509_gmtime_adj(X509_getm_notAfter(certificate),
                  absl::ToInt64Seconds(validity));
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

// Writes a file atomically, replacing an existing one.
template <typename Write>
void WriteFile(const std::string& path, const Write& write) {
  const std::string temporary = path + ".new";
  FILE* file = std::fopen(temporary.c_str(), "w");
  CHECK(file != nullptr) << temporary;
  CHECK_EQ(write(file), 1);
  std::fclose(file);
  CHECK_EQ(std::rename(temporary.c_str(), path.c_str()), 0);
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : directory_(NewDirectory()), ca_file_(directory_ + "/ca.crt") {
  key_.reset(EVP_EC_gen("P-256"));
  certificate_.reset(NewCertificate(key_.get(), name, absl::Hours(1)));
  X509* ca = certificate_.get();
  X509_set_issuer_name(ca, X509_get_subject_name(ca));
  AddExtension(ca, ca, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign");
  X509_sign(ca, key_.get(), EVP_sha256());
  WriteFile(ca_file_, [&](FILE* file) { return PEM_write_X509(file, ca); });
}

TestAuthority::~TestAuthority() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

TlsFiles TestAuthority::Issue(const std::string& name,
                              const CertificateRequest& request) const {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Free> made(
      NewCertificate(key.get(), request.common_name, request.validity));
  X509* ca = certificate_.get();
  X509_set_issuer_name(made.get(), X509_get_subject_name(ca));
  AddExtension(made.get(), ca, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!request.alternative_names.empty()) {
    AddExtension(made.get(), ca, NID_subject_alt_name,
                 absl::StrJoin(request.alternative_names, ","));
  }
  X509_sign(made.get(), key_.get(), EVP_sha256());
  const TlsFiles files = {.ca = ca_file_,
                          .cert = absl::StrCat(directory_, "/", name, ".crt"),
                          .key = absl::StrCat(directory_, "/", name, ".key")};
  WriteFile(files.key, [&](FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr,
                                nullptr);
  });
  WriteFile(files.cert,
            [&](FILE* file) { return PEM_write_X509(file, made.get()); });
  return files;
}

TlsFiles TestAuthority::IssueForLocalhost(const std::string& name) const {
  return Issue(
      name, {.common_name = name,
             .alternative_names = {"DNS:localhost", "IP:127.0.0.1", "IP:::1"}});
}

}  // namespace distbench::security
