#include "distbench/security/received_tls_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/read_file.h"

namespace distbench {
namespace {

absl::Status ReadContents(const std::string& path, std::string& contents) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> file = ReadFile(path);
  if (file.ok()) contents = *std::move(file);
  return file.status();
}

// A new file replaces the old one atomically, with its descriptor and thus its
// name.
absl::Status Replace(const std::string& contents, FileDescriptor& descriptor) {
  if (contents.empty()) return absl::OkStatus();
  FileDescriptor file(memfd_create("tls", MFD_CLOEXEC));
  if (!file.is_open()) return absl::ErrnoToStatus(errno, "memfd_create");
  if (write(file.get(), contents.data(), contents.size()) !=
      static_cast<ssize_t>(contents.size())) {
    return absl::ErrnoToStatus(errno, "cannot keep certificates in memory");
  }
  if (!descriptor.is_open()) {
    descriptor = std::move(file);
  } else if (dup3(file.get(), descriptor.get(), O_CLOEXEC) < 0) {
    return absl::ErrnoToStatus(errno, "dup3");
  }
  return absl::OkStatus();
}

std::string NameOf(const FileDescriptor& descriptor) {
  if (!descriptor.is_open()) return "";
  return absl::StrCat("/proc/self/fd/", descriptor.get());
}

}  // namespace

absl::StatusOr<TlsContents> ReadTlsContents(const TlsFiles& files) {
  TlsContents contents;
  absl::Status status = ReadContents(files.ca, contents.ca);
  if (status.ok()) status = ReadContents(files.cert, contents.cert);
  if (status.ok()) status = ReadContents(files.key, contents.key);
  if (!status.ok()) return status;
  return contents;
}

absl::Status ReceivedTlsFiles::Update(const TlsContents& contents) {
  absl::Status status = Replace(contents.ca, ca_);
  if (status.ok()) status = Replace(contents.cert, cert_);
  if (status.ok()) status = Replace(contents.key, key_);
  return status;
}

TlsFiles ReceivedTlsFiles::files() const {
  return {.ca = NameOf(ca_), .cert = NameOf(cert_), .key = NameOf(key_)};
}

}  // namespace distbench
