// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"
#include "distbench/base/time_units.h"
#include "distbench/results/output_file.h"
#include "distbench/sequencer/runs/run_book.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace distbench::sequencer {
namespace {

constexpr absl::string_view kFirstLine = "dbrun 1\n";
static_assert(kFirstLine.size() == ResultFile::kBegin);

uint32_t Crc(const char* bytes, size_t size) {
  return crc32(0, reinterpret_cast<const Bytef*>(bytes), size);
}

void AppendUint32(uint32_t value, std::string& bytes) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<char>(value >> shift));
  }
}

uint32_t Uint32At(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

bool HasBytesUpTo(int fd, int64_t end) {
  struct stat attributes;
  return fstat(fd, &attributes) == 0 && attributes.st_size >= end;
}

struct RegularFile {
  base::FileDescriptor fd;
  int64_t size;
};

// Opens a file to read. What is no regular file is refused, without waiting:
// nobody else would use the storage while a pipe waits for its writer.
absl::StatusOr<RegularFile> OpenRegular(const std::string& path) {
  base::FileDescriptor fd(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat attributes;
  if (!fd.is_open() || fstat(fd.get(), &attributes) != 0) {
    const int error = errno;
    const absl::Status status =
        absl::ErrnoToStatus(error, absl::StrCat("cannot read ", path));
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(),
                     error == EACCES ? "; check who may read it" : ""));
  }
  if (!S_ISREG(attributes.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot read ", path,
                     ": it is a pipe, directory or device, and not a file; "
                     "remove it"));
  }
  return RegularFile{std::move(fd), attributes.st_size};
}

// Returns the bytes of a regular file.
absl::StatusOr<std::string> ReadRegular(const std::string& path,
                                        int64_t max_bytes) {
  const absl::StatusOr<RegularFile> file = OpenRegular(path);
  if (!file.ok()) return file.status();
  if (file->size > max_bytes) {
    return absl::OutOfRangeError(absl::StrCat(
        "cannot read ", path, ": it is larger than ", max_bytes >> 20,
        " MiB, which no such file is; remove it"));
  }
  std::string bytes(file->size, '\0');
  if (!base::ReadAllAt(file->fd.get(), 0, absl::MakeSpan(bytes))) {
    return absl::DataLossError(absl::StrCat(
        "cannot read ", path, ": it has become shorter, or its disk failed"));
  }
  return bytes;
}

// Creates a file; on error, none is open, and errno is set.
using CreateFunction = base::FileDescriptor (*)(const std::string& path);

// What has that name is not written to: it may be a link that leads elsewhere.
base::FileDescriptor CreateAt(const std::string& path) {
  unlink(path.c_str());
  return base::FileDescriptor(
      open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

class ResultFileOnDisk final : public ResultFile {
 public:
  // A file that is only read needs no `create`.
  explicit ResultFileOnDisk(std::string path, CreateFunction create = nullptr)
      : path_(std::move(path)), create_(create) {}

  absl::Status OpenToRead(int64_t size);

  absl::Status Append(const std::string& record) override;
  absl::Status Sync() override;
  absl::StatusOr<std::string> Read(int64_t offset) override;

 private:
  absl::Status WriteFirstLine();

  const std::string path_;
  const CreateFunction create_;
  base::FileDescriptor fd_;
  int64_t size_ = 0;  // including the first line
};

absl::Status ResultFileOnDisk::OpenToRead(int64_t size) {
  absl::StatusOr<RegularFile> file = OpenRegular(path_);
  if (!file.ok()) return file.status();
  fd_ = std::move(file->fd);
  char first_line[kFirstLine.size()];
  if (!base::ReadAllAt(fd_.get(), 0, absl::MakeSpan(first_line)) ||
      absl::string_view(first_line, sizeof(first_line)) != kFirstLine) {
    return absl::DataLossError(
        absl::StrCat(path_, " is not the result of a run"));
  }
  size_ = size;
  return absl::OkStatus();
}

absl::Status ResultFileOnDisk::Append(const std::string& record) {
  if (absl::Status status = WriteFirstLine(); !status.ok()) return status;
  std::string framed;
  framed.reserve(kRecordHeaderBytes + record.size());
  AppendUint32(record.size(), framed);
  AppendUint32(Crc(record.data(), record.size()), framed);
  framed.append(record);
  if (!base::WriteAllAt(fd_.get(), size_, framed)) {
    const int error = errno;
    // Half a record would waste space, and the disk may be full.
    (void)!ftruncate(fd_.get(), size_);
    return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", path_));
  }
  size_ += static_cast<int64_t>(framed.size());
  return absl::OkStatus();
}

absl::Status ResultFileOnDisk::WriteFirstLine() {
  if (size_ > 0) return absl::OkStatus();
  if (!fd_.is_open()) fd_ = create_(path_);
  if (!fd_.is_open() || !base::WriteAllAt(fd_.get(), 0, kFirstLine)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
  }
  size_ = kFirstLine.size();
  return absl::OkStatus();
}

absl::Status ResultFileOnDisk::Sync() {
  if (!fd_.is_open() || fsync(fd_.get()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
}

absl::StatusOr<std::string> ResultFileOnDisk::Read(int64_t offset) {
  const auto damage = [&] {
    return absl::DataLossError(
        absl::StrCat(path_, " is damaged at byte ", offset));
  };
  char header[kRecordHeaderBytes];
  if (offset + kRecordHeaderBytes > size_ ||
      !base::ReadAllAt(fd_.get(), offset, absl::MakeSpan(header))) {
    return damage();
  }
  const int64_t size = Uint32At(header);
  const int64_t begin = offset + kRecordHeaderBytes;
  // Do not allocate memory for bytes that do not exist.
  if (size > size_ - begin || !HasBytesUpTo(fd_.get(), begin + size)) {
    return damage();
  }
  std::string record(size, '\0');
  if (!base::ReadAllAt(fd_.get(), begin, absl::MakeSpan(record)) ||
      Crc(record.data(), size) != Uint32At(header + 4)) {
    return damage();
  }
  return record;
}

}  // namespace

std::unique_ptr<ResultFile> NewResultFile(std::string path) {
  return std::make_unique<ResultFileOnDisk>(std::move(path), &CreateAt);
}

namespace {

std::string TemporaryFolder() {
  const char* folder = getenv("TMPDIR");
  const bool has_folder = folder != nullptr && *folder != '\0';
  return has_folder ? folder : "/tmp";
}

}  // namespace

std::unique_ptr<ResultFile> NewTemporaryResultFile() {
  return std::make_unique<ResultFileOnDisk>(TemporaryFolder(),
                                            &base::CreateNameless);
}

absl::Status CheckTemporaryFolder() {
  const std::string folder = TemporaryFolder();
  if (base::CreateNameless(folder).is_open()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "cannot make files in ", folder,
      ", where results are kept: ", strerror(errno),
      "; set TMPDIR to a folder that is writable, or use --results_dir"));
}

absl::StatusOr<std::unique_ptr<ResultFile>> OpenResultFile(std::string path,
                                                           int64_t size) {
  auto file = std::make_unique<ResultFileOnDisk>(std::move(path));
  if (absl::Status status = file->OpenToRead(size); !status.ok()) return status;
  return file;
}

namespace {

constexpr absl::string_view kDescriptionSuffix = ".run";
constexpr absl::string_view kResultSuffix = ".result";
constexpr absl::string_view kTemporarySuffix = ".tmp";

// More than any valid description has.
constexpr int64_t kMaxDescriptionBytes = 64 << 20;
constexpr int kMaxNesting = 100;

// Collects the first error and logs nothing: every listing would log it again.
class SilentCollector final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int, const std::string& message) override {
    if (what_.empty()) {
      what_ = absl::StrCat(", line ", line + 1, ": ", message);
    }
  }

  const std::string& what() const { return what_; }

 private:
  std::string what_;
};

// "ID" of "ID.run"; empty for other names.
std::string IdOfDescription(const std::string& name) {
  absl::string_view id = name;
  if (!absl::ConsumeSuffix(&id, kDescriptionSuffix) || !IsRunId(id)) return "";
  return std::string(id);
}

// The names in a directory, sorted.
absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(path, error), end;
       !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) {
    const absl::Status status = absl::ErrnoToStatus(
        error.value(), absl::StrCat("cannot list the runs in ", path));
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(),
                     "; the test sequencer needs a directory that it may "
                     "read and write"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Absent if there is no such file.
std::optional<FileVersion> VersionOf(const std::string& path) {
  struct stat attributes;
  if (stat(path.c_str(), &attributes) != 0) return std::nullopt;
  const timespec& modified = attributes.st_mtim;
  return FileVersion{
      .inode = attributes.st_ino,
      .size = attributes.st_size,
      .modified_ns = modified.tv_sec * base::kNsPerSecond + modified.tv_nsec};
}

// In place of a description that cannot be read. Its state is UNKNOWN.
RunDescription Unreadable(const std::string& id, const absl::Status& error) {
  RunDescription run;
  run.set_id(id);
  run.set_message(std::string(error.message()));
  return run;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunDirectory>> RunDirectory::Open(
    std::string path, int64_t kept_bytes) {
  const auto error = [&path](absl::string_view what) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot keep results in ", path, ": ", what));
  };
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return error("cannot make it");
  }
  const std::string lock_path = absl::StrCat(path, "/.lock");
  base::FileDescriptor lock(
      open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.is_open()) return error("cannot make files there");
  auto directory = absl::WrapUnique(
      new RunDirectory(std::move(path), kept_bytes, std::move(lock)));
  if (flock(directory->lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("another test sequencer keeps its results in ",
                     directory->path_, "; each needs a directory of its own"));
  }
  if (absl::Status status = directory->RemoveTemporaryFiles(); !status.ok()) {
    return status;
  }
  return directory;
}

absl::Status RunDirectory::Save(const RunDescription& description) {
  const std::string path = DescriptionPath(description.id());
  std::string text;
  google::protobuf::TextFormat::PrintToString(description, &text);
  listed_.erase(description.id());
  return results::WriteFile(path, text);
}

absl::StatusOr<RunDescription> RunDirectory::Load(const std::string& id) {
  if (!IsRunId(id)) return absl::NotFoundError("no id of a run");
  const absl::StatusOr<std::string> text =
      ReadRegular(DescriptionPath(id), kMaxDescriptionBytes);
  if (!text.ok()) return text.status();
  RunDescription description;
  google::protobuf::TextFormat::Parser parser;
  SilentCollector error;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);  // a later version's
  parser.SetRecursionLimit(kMaxNesting);
  if (!parser.ParseFromString(*text, &description)) {
    description.Clear();
    description.set_message(absl::StrCat(DescriptionPath(id), error.what(),
                                         "; not the description of a run"));
  }
  description.set_id(id);
  return description;
}

absl::StatusOr<std::vector<RunDescription>> RunDirectory::List() {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(path_);
  if (!names.ok()) return names.status();
  std::map<std::string, ReadRun> listed;
  int64_t listed_bytes = 0;
  std::vector<RunDescription> runs;
  for (const std::string& name : *names) {
    const std::string id = IdOfDescription(name);
    if (id.empty()) continue;
    const std::optional<FileVersion> version = VersionOf(DescriptionPath(id));
    if (!version.has_value()) continue;  // removed in the meantime
    const RunDescription* known = Known(id, *version);
    absl::StatusOr<RunDescription> run = known != nullptr ? *known : Load(id);
    if (!run.ok()) {
      // It may be readable the next time.
      runs.push_back(Unreadable(id, run.status()));
      continue;
    }
    listed_bytes += static_cast<int64_t>(run->SpaceUsedLong());
    if (listed_bytes <= kept_bytes_) {
      listed[id] = {.version = *version, .run = *run};
    }
    runs.push_back(*std::move(run));
  }
  listed_ = std::move(listed);
  return runs;
}

const RunDescription* RunDirectory::Known(const std::string& id,
                                          const FileVersion& version) const {
  const auto it = listed_.find(id);
  if (it == listed_.end() || it->second.version != version) return nullptr;
  return &it->second.run;
}

std::unique_ptr<ResultFile> RunDirectory::NewResult(const std::string& id) {
  return NewResultFile(ResultPath(id));
}

absl::StatusOr<std::unique_ptr<ResultFile>> RunDirectory::OpenResult(
    const std::string& id, int64_t size) {
  return OpenResultFile(ResultPath(id), size);
}

std::string RunDirectory::ResultPath(const std::string& id) const {
  return absl::StrCat(path_, "/", id, kResultSuffix);
}

std::string RunDirectory::DescriptionPath(const std::string& id) const {
  return absl::StrCat(path_, "/", id, kDescriptionSuffix);
}

absl::Status RunDirectory::RemoveTemporaryFiles() const {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(path_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (absl::EndsWith(name, kTemporarySuffix) &&
        IsRunId(absl::string_view(name).substr(0, name.find('.')))) {
      unlink(absl::StrCat(path_, "/", name).c_str());
    }
  }
  return absl::OkStatus();
}

namespace {

class TemporaryRunDisk final : public RunDisk {
 public:
  bool survives() const override { return false; }
  absl::Status Save(const RunDescription&) override { return {}; }
  absl::StatusOr<RunDescription> Load(const std::string& id) override {
    return absl::NotFoundError(absl::StrCat("run ", id, " is not stored"));
  }
  absl::StatusOr<std::vector<RunDescription>> List() override {
    return std::vector<RunDescription>();
  }
  std::unique_ptr<ResultFile> NewResult(const std::string&) override {
    return NewTemporaryResultFile();
  }
  absl::StatusOr<std::unique_ptr<ResultFile>> OpenResult(const std::string& id,
                                                         int64_t) override {
    return absl::NotFoundError(absl::StrCat("run ", id, " is not stored"));
  }
};

}  // namespace

std::unique_ptr<RunDisk> TemporaryRuns() {
  return std::make_unique<TemporaryRunDisk>();
}

}  // namespace distbench::sequencer
