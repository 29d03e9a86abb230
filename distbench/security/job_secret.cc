// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/job_secret.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/security/openssl_owned.h"

namespace distbench::security {
namespace {

constexpr char kCurve[] = "P-256";
constexpr long kX509Version3 = 2;
constexpr int kSerialBits = 128;

absl::Status OpenSslError(const char* what) {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return absl::InternalError(absl::StrCat(what, " failed in OpenSSL",
                                          reason == nullptr ? "" : ": ",
                                          reason == nullptr ? "" : reason));
}

struct Extension {
  int nid;
  const char* value;  // in the syntax of openssl.cnf
};

bool AddExtension(const Extension& extension, X509* issuer, X509* certificate) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> made(
      X509V3_EXT_conf_nid(nullptr, &context, extension.nid, extension.value));
  return made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1;
}

// Serial numbers and the names of authorities are random, so that secrets of
// different jobs are told apart, and never mixed up by their names.
bool SetSerial(X509* certificate) {
  const Owned<BIGNUM> number(BN_new());
  return BN_rand(number.get(), kSerialBits - 1, BN_RAND_TOP_ONE,
                 BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) !=
             nullptr;
}

bool SetName(const std::string& common_name, X509* certificate) {
  return X509_NAME_add_entry_by_txt(
             X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
             -1, 0) == 1;
}

bool SetTimes(absl::Time begin, absl::Time end, X509* certificate) {
  const time_t first = absl::ToTimeT(begin);
  const time_t last = absl::ToTimeT(end);
  return ASN1_TIME_set(X509_getm_notBefore(certificate), first) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), last) != nullptr;
}

struct CertificatePlan {
  std::string common_name;
  absl::Time begin;
  absl::Time end;
  std::vector<Extension> extensions;
};

// An issuer of null signs itself. Null if OpenSSL fails.
Owned<X509> MakeCertificate(const CertificatePlan& plan, EVP_PKEY* key,
                            X509* issuer, EVP_PKEY* issuer_key) {
  Owned<X509> made(X509_new());
  if (made == nullptr) return nullptr;
  if (issuer == nullptr) issuer = made.get();
  bool is_fine =
      X509_set_version(made.get(), kX509Version3) == 1 &&
      SetSerial(made.get()) && SetName(plan.common_name, made.get()) &&
      SetTimes(plan.begin, plan.end, made.get()) &&
      X509_set_issuer_name(made.get(), X509_get_subject_name(issuer)) == 1 &&
      X509_set_pubkey(made.get(), key) == 1;
  for (const Extension& extension : plan.extensions) {
    is_fine = is_fine && AddExtension(extension, issuer, made.get());
  }
  if (!is_fine || X509_sign(made.get(), issuer_key, EVP_sha256()) == 0) {
    return nullptr;
  }
  return made;
}

std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return std::string(text, size);
}

absl::StatusOr<std::string> ToPem(X509* certificate) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) {
    return OpenSslError("writing a certificate");
  }
  return TextOf(bio.get());
}

absl::StatusOr<std::string> ToPem(EVP_PKEY* key) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr ||
      PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0,
                                    nullptr, nullptr) != 1) {
    return OpenSslError("writing a key");
  }
  return TextOf(bio.get());
}

absl::StatusOr<std::string> NewAuthorityName() {
  unsigned char bytes[8];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) {
    return OpenSslError("drawing random numbers");
  }
  const absl::string_view text(reinterpret_cast<const char*>(bytes),
                               sizeof(bytes));
  return absl::StrCat("distbench job ", absl::BytesToHexString(text));
}

absl::StatusOr<TlsContents> ToContents(X509* authority, X509* certificate,
                                       EVP_PKEY* key) {
  absl::StatusOr<std::string> ca = ToPem(authority);
  if (!ca.ok()) return ca.status();
  absl::StatusOr<std::string> cert = ToPem(certificate);
  if (!cert.ok()) return cert.status();
  absl::StatusOr<std::string> key_text = ToPem(key);
  if (!key_text.ok()) return key_text.status();
  return TlsContents{.ca = *std::move(ca),
                     .cert = *std::move(cert),
                     .key = *std::move(key_text)};
}

Owned<X509> ReadFirst(const std::string& path) {
  const Owned<BIO> bio(BIO_new_file(path.c_str(), "r"));
  if (bio == nullptr) return nullptr;
  return Owned<X509>(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

// Reads all certificates of the file, which may be a chain of authorities.
bool LoadAuthorities(const std::string& path, X509_STORE* store) {
  return X509_STORE_load_locations(store, path.c_str(), nullptr) == 1;
}

}  // namespace

absl::StatusOr<TlsContents> IssueJobCertificate(const std::string& name,
                                                absl::Time begin,
                                                absl::Time end) {
  const Owned<EVP_PKEY> authority_key(EVP_EC_gen(kCurve));
  const Owned<EVP_PKEY> key(EVP_EC_gen(kCurve));
  if (authority_key == nullptr || key == nullptr) {
    return OpenSslError("making a key");
  }
  const absl::StatusOr<std::string> authority_name = NewAuthorityName();
  if (!authority_name.ok()) return authority_name.status();
  const Owned<X509> authority = MakeCertificate(
      {.common_name = *authority_name,
       .begin = begin,
       .end = end,
       .extensions = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                      {NID_key_usage, "critical,keyCertSign"},
                      {NID_subject_key_identifier, "hash"}}},
      authority_key.get(), nullptr, authority_key.get());
  if (authority == nullptr) return OpenSslError("making an authority");
  const std::string alternative_name = absl::StrCat("DNS:", name);
  const Owned<X509> certificate = MakeCertificate(
      {.common_name = name,
       .begin = begin,
       .end = end,
       .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                      {NID_key_usage, "critical,digitalSignature"},
                      {NID_ext_key_usage, "serverAuth,clientAuth"},
                      {NID_authority_key_identifier, "keyid"},
                      {NID_subject_alt_name, alternative_name.c_str()}}},
      key.get(), authority.get(), authority_key.get());
  if (certificate == nullptr) return OpenSslError("making a certificate");
  return ToContents(authority.get(), certificate.get(), key.get());
}

absl::Status CheckIssuedFor(const std::string& name, const TlsFiles& files) {
  const Owned<X509> certificate = ReadFirst(files.cert);
  const Owned<X509_STORE> store(X509_STORE_new());
  const Owned<X509_STORE_CTX> check(X509_STORE_CTX_new());
  if (certificate == nullptr || store == nullptr || check == nullptr ||
      !LoadAuthorities(files.ca, store.get()) ||
      X509_STORE_CTX_init(check.get(), store.get(), certificate.get(),
                          nullptr) != 1) {
    return OpenSslError("checking a certificate");
  }
  if (X509_verify_cert(check.get()) != 1) {
    const char* reason =
        X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()));
    ERR_clear_error();
    return absl::InvalidArgumentError(
        absl::StrCat(files.cert, " is not signed by ", files.ca, " (", reason,
                     "): these are files of two secrets"));
  }
  if (X509_check_host(certificate.get(), name.c_str(), name.size(), 0,
                      nullptr) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(absl::StrCat(
        files.cert, " is a certificate, but not for the name ", name));
  }
  return absl::OkStatus();
}

namespace {

constexpr char kCaFile[] = "ca.crt";
constexpr char kCertFile[] = "tls.crt";
constexpr char kKeyFile[] = "tls.key";

constexpr mode_t kAnyoneElse = S_IRWXG | S_IRWXO;

TlsFiles FilesIn(const std::string& directory) {
  return {.ca = absl::StrCat(directory, "/", kCaFile),
          .cert = absl::StrCat(directory, "/", kCertFile),
          .key = absl::StrCat(directory, "/", kKeyFile),
          .name = kJobName};
}

absl::Status Wrong(const std::string& directory, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("--secret=", directory, ": ", problem));
}

absl::Status SystemError(const std::string& path, absl::string_view what) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": ", what));
}

std::string Mode(const struct stat& info) {
  return absl::StrFormat("%04o", info.st_mode & 07777);
}

bool IsOwnedByOthers(const struct stat& info) {
  const uid_t self = geteuid();
  return self != 0 && info.st_uid != self && info.st_uid != 0;
}

absl::Status CheckPrivate(const std::string& path, const struct stat& info,
                          absl::string_view private_mode) {
  if (IsOwnedByOthers(info)) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, " belongs to user ", info.st_uid,
                     ", who can read the secret; make one of your own: "
                     "distbench make_secret DIR"));
  }
  if ((info.st_mode & kAnyoneElse) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(path, " has mode ", Mode(info),
                   ", which lets other users at the secret; chmod ",
                   private_mode, " ", path));
}

// ---- Making -----------------------------------------------------------------

absl::Status MakeDirectory(const std::string& directory) {
  if (mkdir(directory.c_str(), S_IRWXU) == 0) return absl::OkStatus();
  if (errno != EEXIST) return SystemError(directory, "cannot be made");
  struct stat info = {};
  if (stat(directory.c_str(), &info) != 0) {
    return SystemError(directory, "cannot be used");
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory, " is not a directory"));
  }
  return CheckPrivate(directory, info, "700");
}

absl::Status CheckUnused(const TlsFiles& files) {
  for (const std::string* file : {&files.ca, &files.cert, &files.key}) {
    struct stat info = {};
    if (lstat(file->c_str(), &info) == 0) {
      return absl::AlreadyExistsError(
          absl::StrCat(*file,
                       " exists, and may be in use; choose another "
                       "directory, or remove this one first"));
    }
  }
  return absl::OkStatus();
}

// Writes a file that must not exist; removes it again after an error.
absl::Status WriteNewFile(const std::string& path,
                          const std::string& contents) {
  base::FileDescriptor file(open(path.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                 S_IRUSR | S_IWUSR));
  if (!file.is_open()) return SystemError(path, "cannot be made");
  if (base::WriteAll(file.get(), contents) && close(file.Release()) == 0) {
    return absl::OkStatus();
  }
  const absl::Status status = SystemError(path, "cannot be written");
  unlink(path.c_str());
  return status;
}

// ---- Finding ----------------------------------------------------------------

// A process without the secret's files may have been given the wrong directory,
// or have been started before the secret was there.
absl::Status Absent(const std::string& directory, const std::string& path,
                    int error) {
  return Wrong(directory,
               absl::StrCat(path, " cannot be read (", std::strerror(error),
                            "); distbench make_secret makes a secret, which "
                            "all processes of the job must be able to read"));
}

absl::StatusOr<bool> IsReadOnly(const std::string& directory) {
  struct statvfs info = {};
  if (statvfs(directory.c_str(), &info) != 0) {
    return Absent(directory, directory, errno);
  }
  return (info.f_flag & ST_RDONLY) != 0;
}

absl::Status CheckModes(const std::string& directory, const TlsFiles& files) {
  const absl::StatusOr<bool> is_read_only = IsReadOnly(directory);
  if (!is_read_only.ok()) return is_read_only.status();
  struct stat folder = {};
  if (stat(directory.c_str(), &folder) != 0) {
    return Absent(directory, directory, errno);
  }
  struct stat key = {};
  if (stat(files.key.c_str(), &key) != 0) {
    return Absent(directory, files.key, errno);
  }
  if (!*is_read_only) {
    const absl::Status status = CheckPrivate(directory, folder, "700");
    return status.ok() ? CheckPrivate(files.key, key, "600") : status;
  }
  if ((key.st_mode & S_IRWXO) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(files.key, " has mode ", Mode(key),
                   ", which lets every user read the secret; mount it with "
                   "defaultMode 0440, and let the Pod's fsGroup read it"));
}

}  // namespace

absl::Status MakeJobSecret(const std::string& directory,
                           absl::Duration valid_for, absl::Time now) {
  if (valid_for <= absl::ZeroDuration() || valid_for > kLongestJobSecret) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a secret cannot be valid for ", absl::FormatDuration(valid_for),
        "; it must be more than nothing, and at most ",
        absl::FormatDuration(kLongestJobSecret)));
  }
  const absl::StatusOr<TlsContents> contents = IssueJobCertificate(
      kJobName, now - kJobSecretClockTolerance, now + valid_for);
  if (!contents.ok()) return contents.status();
  absl::Status status = MakeDirectory(directory);
  if (status.ok()) status = CheckUnused(FilesIn(directory));
  return status.ok() ? WriteJobSecret(directory, *contents) : status;
}

absl::Status WriteJobSecret(const std::string& directory,
                            const TlsContents& contents) {
  const TlsFiles files = FilesIn(directory);
  absl::Status status = WriteNewFile(files.ca, contents.ca);
  if (!status.ok()) return status;
  status = WriteNewFile(files.cert, contents.cert);
  if (status.ok()) {
    status = WriteNewFile(files.key, contents.key);
    if (!status.ok()) unlink(files.cert.c_str());
  }
  if (!status.ok()) unlink(files.ca.c_str());
  return status;
}

absl::Status LinkJobSecret(const std::string& directory,
                           const TlsFiles& files) {
  const TlsFiles links = FilesIn(directory);
  for (std::string TlsFiles::*file :
       {&TlsFiles::ca, &TlsFiles::cert, &TlsFiles::key}) {
    if (symlink((files.*file).c_str(), (links.*file).c_str()) != 0) {
      return SystemError(links.*file, "cannot be made");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TlsFiles> FindJobSecret(const std::string& directory) {
  const TlsFiles files = FilesIn(directory);
  absl::Status status = CheckModes(directory, files);
  if (!status.ok()) return status;
  status =
      CheckTlsFiles(files, TlsRole::kNode, {.ca = "", .cert = "", .key = ""});
  if (status.ok()) status = CheckIssuedFor(kJobName, files);
  if (status.ok()) return files;
  return absl::Status(
      status.code(),
      absl::StrCat("--secret=", directory, ": ", status.message(),
                   "; distbench make_secret makes a new secret, for all "
                   "processes of the job"));
}

}  // namespace distbench::security
