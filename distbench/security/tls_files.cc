// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/tls_files.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/security/openssl_owned.h"

namespace distbench::security {
namespace {

using Bio = Owned<BIO>;
using Certificate = Owned<X509>;
using Key = Owned<EVP_PKEY>;

absl::Status Wrong(absl::string_view label, const std::string& file,
                   absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(label, file, ": ", problem));
}

absl::StatusOr<Bio> Open(absl::string_view label, const std::string& file) {
  errno = 0;
  Bio bio(BIO_new_file(file.c_str(), "r"));
  if (bio != nullptr) return bio;
  const int error = errno;
  ERR_clear_error();
  return Wrong(label, file,
               absl::StrCat("cannot be read: ", std::strerror(error)));
}

// Formats a certificate's time for users.
std::string ToText(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, size);
}

absl::StatusOr<Certificate> ReadCertificate(absl::string_view label,
                                            const std::string& file) {
  const absl::StatusOr<Bio> bio = Open(label, file);
  if (!bio.ok()) return bio.status();
  Certificate certificate(
      PEM_read_bio_X509(bio->get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) {
    ERR_clear_error();
    return Wrong(label, file,
                 "no certificate in PEM form, which begins with \"-----BEGIN "
                 "CERTIFICATE-----\"");
  }
  const ASN1_TIME* end = X509_get0_notAfter(certificate.get());
  if (X509_cmp_current_time(end) < 0) {
    return Wrong(
        label, file,
        absl::StrCat("the certificate expired on ", ToText(end), "; renew it"));
  }
  const ASN1_TIME* begin = X509_get0_notBefore(certificate.get());
  if (X509_cmp_current_time(begin) > 0) {
    return Wrong(label, file,
                 absl::StrCat("the certificate is valid only from ",
                              ToText(begin), "; is the host's clock right?"));
  }
  return certificate;
}

absl::StatusOr<Key> ReadKey(absl::string_view label, const std::string& file) {
  const absl::StatusOr<Bio> bio = Open(label, file);
  if (!bio.ok()) return bio.status();
  // Without this callback, OpenSSL asks for a password on the terminal.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(PEM_read_bio_PrivateKey(bio->get(), nullptr, no_password, nullptr));
  if (key != nullptr) return key;
  ERR_clear_error();
  return Wrong(label, file,
               "no private key in PEM form, or one with a password, which "
               "distbench cannot ask for");
}

absl::Status CheckPair(const TlsFiles& files, const TlsLabels& labels) {
  const absl::StatusOr<Certificate> certificate =
      ReadCertificate(labels.cert, files.cert);
  if (!certificate.ok()) return certificate.status();
  const absl::StatusOr<Key> key = ReadKey(labels.key, files.key);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(certificate->get(), key->get()) == 1) {
    return absl::OkStatus();
  }
  ERR_clear_error();
  return Wrong(labels.key, files.key,
               absl::StrCat("not the key of the certificate in ", files.cert));
}

absl::Status Missing(absl::string_view flags, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("TLS needs ", flags, " as well: ", why));
}

absl::Status CheckCompleteness(const TlsFiles& files, TlsRole role) {
  const bool needs_pair = role != TlsRole::kClient;
  const bool has_pair = !files.cert.empty() && !files.key.empty();
  if (files.cert.empty() != files.key.empty() || (needs_pair && !has_pair)) {
    return Missing(files.cert.empty() ? "--tls_cert" : "--tls_key",
                   "a certificate is only useful together with its key");
  }
  if (files.ca.empty() && role == TlsRole::kClient) {
    return Missing("--tls_ca",
                   "the sequencer is recognised by who signed its "
                   "certificate");
  }
  if (files.ca.empty() && role == TlsRole::kNode) {
    return Missing("--tls_ca",
                   "the sequencer and other nodes are recognised "
                   "by who signed their certificates");
  }
  return absl::OkStatus();
}

absl::Status ReadContents(const std::string& path, std::string& contents) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> file = base::ReadFile(path);
  if (file.ok()) contents = *std::move(file);
  return file.status();
}

// A new file replaces the old one atomically, with its descriptor and thus its
// name.
absl::Status Replace(const std::string& contents,
                     base::FileDescriptor& descriptor) {
  if (contents.empty()) return absl::OkStatus();
  base::FileDescriptor file(memfd_create("tls", MFD_CLOEXEC));
  if (!file.is_open()) return absl::ErrnoToStatus(errno, "memfd_create");
  if (fchmod(file.get(), S_IRUSR | S_IWUSR) != 0 ||
      !base::WriteAll(file.get(), contents)) {
    return absl::ErrnoToStatus(errno, "cannot keep certificates in memory");
  }
  if (!descriptor.is_open()) {
    descriptor = std::move(file);
  } else if (dup3(file.get(), descriptor.get(), O_CLOEXEC) < 0) {
    return absl::ErrnoToStatus(errno, "dup3");
  }
  return absl::OkStatus();
}

// The name that processes have for it which see this one as `process` in /proc.
std::string NameOf(const base::FileDescriptor& descriptor,
                   absl::string_view process) {
  if (!descriptor.is_open()) return "";
  return absl::StrCat("/proc/", process, "/fd/", descriptor.get());
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files, TlsRole role,
                           const TlsLabels& labels) {
  if (files.empty()) {
    return files.name.empty()
               ? absl::OkStatus()
               : Missing("--tls_ca",
                         "--tls_name is the name in a certificate, and there "
                         "is none without TLS");
  }
  absl::Status status = CheckCompleteness(files, role);
  if (status.ok() && !files.ca.empty()) {
    status = ReadCertificate(labels.ca, files.ca).status();
  }
  if (status.ok() && !files.cert.empty()) status = CheckPair(files, labels);
  return status;
}

absl::StatusOr<TlsContents> ReadTlsContents(const TlsFiles& files) {
  TlsContents contents;
  absl::Status status = ReadContents(files.ca, contents.ca);
  if (status.ok()) status = ReadContents(files.cert, contents.cert);
  if (status.ok()) status = ReadContents(files.key, contents.key);
  if (!status.ok()) return status;
  return contents;
}

absl::Status TlsFilesInMemory::Update(const TlsContents& contents) {
  absl::Status status = Replace(contents.ca, ca_);
  if (status.ok()) status = Replace(contents.cert, cert_);
  if (status.ok()) status = Replace(contents.key, key_);
  return status;
}

TlsFiles TlsFilesInMemory::files() const { return FilesOf("self"); }

TlsFiles TlsFilesInMemory::FilesForOthers() const {
  return FilesOf(absl::StrCat(getpid()));
}

TlsFiles TlsFilesInMemory::FilesOf(absl::string_view process) const {
  return {.ca = NameOf(ca_, process),
          .cert = NameOf(cert_, process),
          .key = NameOf(key_, process)};
}

}  // namespace distbench::security
