#include "distbench/products/bench/files/bench_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/results/output_file.h"
#include "distbench/results/result_file.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"

namespace distbench::bench {
namespace {

using google::protobuf::io::CopyingInputStreamAdaptor;
using google::protobuf::io::FileOutputStream;
using google::protobuf::io::GzipOutputStream;

constexpr int kFormatVersion = 1;

absl::Status ParseFile(base::FileDescriptor fd, BenchFile& file) {
  results::UncompressedFile uncompressed(fd.Release());
  CopyingInputStreamAdaptor stream(&uncompressed);
  const bool is_parsed = file.ParseFromZeroCopyStream(&stream);
  // Also if the message was complete before the end of the data.
  if (absl::Status read = uncompressed.status(); !read.ok()) return read;
  if (is_parsed) return absl::OkStatus();
  return absl::DataLossError(
      "it is damaged, or no result file of distbench bench");
}

absl::Status CheckJob(BenchJob& job) {
  if (job.kind().empty() || !IsJobName(job.kind()) || !IsJobName(job.id())) {
    return absl::InvalidArgumentError(
        "its kind or id is no name of letters, digits, '_', '-' and '.'");
  }
  if (!job.has_results()) return absl::OkStatus();
  return results::CompleteResults(*job.mutable_results());
}

absl::Status CheckContent(BenchFile& file) {
  if (!file.has_format_version()) {
    return absl::InvalidArgumentError(
        "not a result file of distbench bench; results of single tests are "
        "read by distbench report");
  }
  if (file.format_version() != kFormatVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has format version ", file.format_version(),
                     ", and this distbench "
                     "reads version ",
                     kFormatVersion, "; use the distbench that wrote it"));
  }
  for (int i = 0; i < file.jobs_size(); ++i) {
    const absl::Status status = CheckJob(*file.mutable_jobs(i));
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("jobs[", i, "]: ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchFile> ReadOrBegin(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return ReadBenchFile(path);
  BenchFile file;
  file.set_format_version(kFormatVersion);
  return file;
}

// The same for all symbolic links to a file, which are written through.
std::string LockPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return absl::StrCat(error ? path : real.string(), ".lock");
}

// Whether the descriptor is still the file of that name: its last owner may
// have removed it between open(2) and flock(2).
bool IsFileOf(int fd, const std::string& path) {
  struct stat opened;
  struct stat named;
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

absl::StatusOr<base::FileDescriptor> Lock(const std::string& path,
                                          const std::string& lock_path) {
  while (true) {
    base::FileDescriptor lock(
        open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (lock.get() < 0) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot open ", path, ": its lock ", lock_path));
    }
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) {
        return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
      }
      return absl::FailedPreconditionError(
          absl::StrCat("another distbench works on ", path,
                       "; wait for its end, or use another file"));
    }
    if (IsFileOf(lock.get(), lock_path)) return lock;
  }
}

}  // namespace

absl::StatusOr<BenchFile> ReadBenchFile(const std::string& path) {
  base::FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  BenchFile file;
  absl::Status status = ParseFile(std::move(fd), file);
  if (status.ok()) status = CheckContent(file);
  if (status.ok()) return file;
  return absl::Status(status.code(), absl::StrCat("cannot read ", path, ": ",
                                                  status.message()));
}

absl::Status WriteBenchFile(const BenchFile& file, const std::string& path) {
  if (file.ByteSizeLong() > INT_MAX) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot write ", path, ": the results take ", file.ByteSizeLong(),
        " bytes, and a file may have 2 GiB; use another file for further "
        "jobs"));
  }
  absl::StatusOr<std::unique_ptr<results::OutputFile>> output =
      results::OutputFile::Open(path);
  if (!output.ok()) return output.status();
  FileOutputStream stream((*output)->fd());
  bool is_written = false;
  if (absl::EndsWith(path, ".gz")) {
    GzipOutputStream compressed(&stream);
    is_written =
        file.SerializeToZeroCopyStream(&compressed) && compressed.Close();
  } else {
    is_written = file.SerializeToZeroCopyStream(&stream);
  }
  if (!is_written || !stream.Flush()) {
    return results::WriteError(path, stream.GetErrno());
  }
  return (*output)->Commit();
}

absl::StatusOr<std::unique_ptr<OpenBenchFile>> OpenBenchFile::Open(
    const std::string& path) {
  std::string lock_path = LockPath(path);
  absl::StatusOr<base::FileDescriptor> lock = Lock(path, lock_path);
  if (!lock.ok()) return lock.status();
  auto file = absl::WrapUnique(
      new OpenBenchFile(path, std::move(lock_path), *std::move(lock)));
  absl::StatusOr<BenchFile> content = ReadOrBegin(path);
  if (!content.ok()) return content.status();
  file->content_ = *std::move(content);
  return file;
}

// Removed while locked, so that nobody else can hold it.
OpenBenchFile::~OpenBenchFile() { unlink(lock_path_.c_str()); }

absl::Status OpenBenchFile::Save() const {
  return WriteBenchFile(content_, path_);
}

}  // namespace distbench::bench
