#include "distbench/security/job_secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/write_all.h"
#include "distbench/security/job_authority.h"

namespace distbench::security {
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
