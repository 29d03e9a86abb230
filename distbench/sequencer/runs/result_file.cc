#include "distbench/sequencer/runs/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/sequencer/runs/result_log.h"

namespace distbench::sequencer {
namespace {

constexpr absl::string_view kFirstLine = "dbrun 1\n";
static_assert(kFirstLine.size() == ResultLog::kBegin);

constexpr int64_t kRecordHeaderBytes = ResultLog::kRecordHeaderBytes;

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

// Writes all of the bytes. Returns false on error.
bool WriteAt(int fd, absl::string_view bytes, int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(fd, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(count);
    offset += count;
  }
  return true;
}

bool ReadAt(int fd, int64_t offset, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t count = pread(fd, bytes, size, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= count;
    offset += count;
  }
  return true;
}

bool HasBytesUpTo(int fd, int64_t end) {
  struct stat attributes;
  return fstat(fd, &attributes) == 0 && attributes.st_size >= end;
}

class ResultFileOnDisk final : public ResultFile {
 public:
  explicit ResultFileOnDisk(std::string path) : path_(std::move(path)) {}
  ~ResultFileOnDisk() override {
    if (fd_ >= 0) close(fd_);
  }

  ResultFileOnDisk(const ResultFileOnDisk&) = delete;
  ResultFileOnDisk& operator=(const ResultFileOnDisk&) = delete;

  absl::Status OpenToRead(int64_t size);

  absl::Status Append(const std::string& record) override;
  absl::Status Sync() override;
  absl::StatusOr<std::string> Read(int64_t offset) override;

 private:
  absl::Status WriteFirstLine();

  const std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;  // including the first line
};

absl::Status ResultFileOnDisk::OpenToRead(int64_t size) {
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
  }
  char first_line[kFirstLine.size()];
  if (!ReadAt(fd_, 0, first_line, sizeof(first_line)) ||
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
  if (!WriteAt(fd_, framed, size_)) {
    const int error = errno;
    // Half a record would waste space, and the disk may be full.
    (void)!ftruncate(fd_, size_);
    return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", path_));
  }
  size_ += static_cast<int64_t>(framed.size());
  return absl::OkStatus();
}

absl::Status ResultFileOnDisk::WriteFirstLine() {
  if (size_ > 0) return absl::OkStatus();
  if (fd_ < 0) {
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd_ < 0 || !WriteAt(fd_, kFirstLine, 0)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
  }
  size_ = kFirstLine.size();
  return absl::OkStatus();
}

absl::Status ResultFileOnDisk::Sync() {
  if (fd_ < 0 || fsync(fd_) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
}

absl::StatusOr<std::string> ResultFileOnDisk::Read(int64_t offset) {
  const auto damage = [&] {
    return absl::DataLossError(
        absl::StrCat(path_, " is damaged at byte ", offset));
  };
  char header[kRecordHeaderBytes];
  if (offset + kRecordHeaderBytes > size_ ||
      !ReadAt(fd_, offset, header, sizeof(header))) {
    return damage();
  }
  const int64_t size = Uint32At(header);
  const int64_t begin = offset + kRecordHeaderBytes;
  // Do not allocate memory for bytes that do not exist.
  if (size > size_ - begin || !HasBytesUpTo(fd_, begin + size)) {
    return damage();
  }
  std::string record(size, '\0');
  if (!ReadAt(fd_, begin, record.data(), size) ||
      Crc(record.data(), size) != Uint32At(header + 4)) {
    return damage();
  }
  return record;
}

}  // namespace

std::unique_ptr<ResultFile> NewResultFile(std::string path) {
  return std::make_unique<ResultFileOnDisk>(std::move(path));
}

absl::StatusOr<std::unique_ptr<ResultFile>> OpenResultFile(std::string path,
                                                           int64_t size) {
  auto file = std::make_unique<ResultFileOnDisk>(std::move(path));
  if (absl::Status status = file->OpenToRead(size); !status.ok()) return status;
  return file;
}

}  // namespace distbench::sequencer
