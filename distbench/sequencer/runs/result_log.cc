#include "distbench/sequencer/runs/result_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench {
namespace {

constexpr absl::string_view kFirstLine = "dbrun 1\n";
static_assert(kFirstLine.size() == ResultLog::kBegin);

constexpr int64_t kRecordHeaderBytes = 8;

int64_t SizeInFile(const std::string& record) {
  return kRecordHeaderBytes + static_cast<int64_t>(record.size());
}

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

// All of the bytes, or an error.
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

}  // namespace

absl::StatusOr<std::unique_ptr<ResultLog>> ResultLog::Open(std::string path,
                                                           int64_t size) {
  auto log = std::make_unique<ResultLog>(std::move(path));
  log->fd_ = open(log->path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (log->fd_ < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", log->path_));
  }
  char first_line[kFirstLine.size()];
  if (!ReadAt(log->fd_, 0, first_line, sizeof(first_line)) ||
      absl::string_view(first_line, sizeof(first_line)) != kFirstLine) {
    return absl::DataLossError(
        absl::StrCat(log->path_, " is not the result of a run"));
  }
  log->file_bytes_ = std::max(size, kBegin);
  log->end_ = log->file_bytes_;
  return log;
}

ResultLog::~ResultLog() {
  if (fd_ >= 0) close(fd_);
}

bool ResultLog::AppendToFile(const std::string& record) {
  if (path_.empty() || !write_error_.ok() || !memory_.empty() || has_gap_) {
    return false;
  }
  write_error_ = Write(record);
  if (!write_error_.ok()) return false;
  end_ = file_bytes_;
  return true;
}

void ResultLog::AppendToMemory(std::string record, bool is_piece) {
  const int64_t offset = end_;
  end_ += SizeInFile(record);
  memory_bytes_ += record.size();
  memory_.push_back({offset, std::move(record), is_piece});
}

absl::StatusOr<std::optional<std::string>> ResultLog::Read(
    int64_t& offset) const {
  if (offset < file_bytes_) {
    absl::StatusOr<std::string> record = ReadFromFile(offset);
    if (!record.ok()) return record.status();
    offset += SizeInFile(*record);
    return *std::move(record);
  }
  const auto next = std::lower_bound(
      memory_.begin(), memory_.end(), offset,
      [](const MemoryRecord& record, int64_t offset) {
        return record.offset < offset;
      });
  if (next == memory_.end()) {
    offset = end_;
    return std::nullopt;
  }
  offset = next->offset + SizeInFile(next->bytes);
  return next->bytes;
}

absl::Status ResultLog::Flush() {
  if (path_.empty()) return absl::OkStatus();
  if (has_gap_) return write_error_;
  write_error_ = absl::OkStatus();
  while (!memory_.empty()) {
    write_error_ = Write(memory_.front().bytes);
    if (!write_error_.ok()) return write_error_;
    memory_bytes_ -= memory_.front().bytes.size();
    memory_.pop_front();
  }
  if (fd_ >= 0 && fsync(fd_) != 0) {
    write_error_ =
        absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
  }
  return write_error_;
}

void ResultLog::DropPieces(int64_t offset) {
  std::deque<MemoryRecord> kept;
  for (MemoryRecord& record : memory_) {
    if (record.is_piece && record.offset < offset) {
      has_gap_ = true;
      memory_bytes_ -= record.bytes.size();
    } else {
      kept.push_back(std::move(record));
    }
  }
  memory_ = std::move(kept);
}

void ResultLog::DropMemory() {
  has_gap_ = has_gap_ || !memory_.empty();
  memory_.clear();
  memory_bytes_ = 0;
}

absl::Status ResultLog::Write(const std::string& record) {
  if (absl::Status status = WriteHeader(); !status.ok()) return status;
  std::string framed;
  framed.reserve(SizeInFile(record));
  AppendUint32(record.size(), framed);
  AppendUint32(Crc(record.data(), record.size()), framed);
  framed.append(record);
  if (!WriteAt(fd_, framed, file_bytes_)) {
    const int error = errno;
    // Half a record would only take space, of which there may be none.
    (void)!ftruncate(fd_, file_bytes_);
    return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", path_));
  }
  file_bytes_ += static_cast<int64_t>(framed.size());
  return absl::OkStatus();
}

absl::Status ResultLog::WriteHeader() {
  if (file_bytes_ > 0) return absl::OkStatus();
  if (fd_ < 0) {
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd_ < 0 || !WriteAt(fd_, kFirstLine, 0)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
  }
  file_bytes_ = kBegin;
  return absl::OkStatus();
}

absl::StatusOr<std::string> ResultLog::ReadFromFile(int64_t offset) const {
  const auto damage = [&] {
    return absl::DataLossError(
        absl::StrCat(path_, " is damaged at byte ", offset));
  };
  char header[kRecordHeaderBytes];
  if (offset + kRecordHeaderBytes > file_bytes_ ||
      !ReadAt(fd_, offset, header, sizeof(header))) {
    return damage();
  }
  const int64_t size = Uint32At(header);
  const int64_t begin = offset + kRecordHeaderBytes;
  // What is not there takes no memory either.
  if (size > file_bytes_ - begin || !HasBytesUpTo(fd_, begin + size)) {
    return damage();
  }
  std::string record(size, '\0');
  if (!ReadAt(fd_, begin, record.data(), size) ||
      Crc(record.data(), size) != Uint32At(header + 4)) {
    return damage();
  }
  return record;
}

}  // namespace distbench
