#include "distbench/products/bench/block_devices/scratch_file.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace distbench::bench {
namespace {

constexpr size_t kAlignment = 4096;  // at least that of any disk
constexpr mode_t kOwnerOnly = 0600;

absl::StatusOr<base::FileDescriptor> OpenUnnamed(const std::string& folder) {
  base::FileDescriptor file(open(
      folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, kOwnerOnly));
  if (file.get() >= 0) return file;
  if (errno == EINVAL || errno == EOPNOTSUPP) {
    return absl::FailedPreconditionError(
        absl::StrCat("the file system of ", folder,
                     " has no direct I/O or no unnamed files, "
                     "as those in memory; name a folder on a disk by dir="));
  }
  return absl::ErrnoToStatus(errno,
                             absl::StrCat("cannot make a file in ", folder));
}

absl::Status CheckSpace(int fd, const ScratchFile::Options& options) {
  struct statvfs space;
  if (fstatvfs(fd, &space) != 0) return absl::OkStatus();  // found when writing
  const double available = static_cast<double>(space.f_bavail) * space.f_frsize;
  if (available >= static_cast<double>(options.size_bytes)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      options.folder, " has ", static_cast<int64_t>(available),
      " bytes left, and the scratch file needs ", options.size_bytes,
      "; choose another folder by dir= or a smaller file by size="));
}

void FillRandomly(char* bytes, size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes + i, &word, sizeof(word));
  }
}

}  // namespace

void ScratchFile::Free::operator()(char* memory) const { std::free(memory); }

absl::StatusOr<std::unique_ptr<ScratchFile>> ScratchFile::Create(
    const Options& options) {
  absl::StatusOr<base::FileDescriptor> file = OpenUnnamed(options.folder);
  if (!file.ok()) return file.status();
  if (absl::Status space = CheckSpace(file->get(), options); !space.ok()) {
    return space;
  }
  auto scratch =
      absl::WrapUnique(new ScratchFile(*std::move(file), options.folder));
  for (int i = 0; i < options.threads; ++i) {
    char* memory = static_cast<char*>(
        std::aligned_alloc(kAlignment, options.largest_block_bytes));
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory for ", options.threads, " blocks of ",
          options.largest_block_bytes, " bytes; use a smaller depth="));
    }
    FillRandomly(memory, options.largest_block_bytes, i);
    scratch->buffers_.emplace_back(memory);
  }
  if (absl::Status filled = scratch->Fill(options); !filled.ok()) return filled;
  return scratch;
}

absl::Status ScratchFile::Fill(const Options& options) {
  const int64_t block = options.largest_block_bytes;
  for (int64_t offset = 0; offset + block <= options.size_bytes;
       offset += block) {
    if (options.is_cancelled && options.is_cancelled()) {
      return absl::CancelledError("cancelled");
    }
    // Every block differs: some devices store equal ones once.
    FillRandomly(buffers_[0].get(), block, offset + options.threads);
    if (absl::Status status = Run({0, true, offset, block}); !status.ok()) {
      return status;
    }
    size_bytes_ = offset + block;
  }
  if (fdatasync(file_.get()) != 0) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("cannot write in ", folder_));
  }
  return absl::OkStatus();
}

absl::Status ScratchFile::Run(const IoOperation& operation) {
  char* const buffer = buffers_[operation.thread].get();
  const ssize_t count =
      operation.is_write
          ? pwrite(file_.get(), buffer, operation.bytes, operation.offset)
          : pread(file_.get(), buffer, operation.bytes, operation.offset);
  if (count == operation.bytes) return absl::OkStatus();
  const absl::string_view what =
      operation.is_write ? "cannot write to" : "cannot read from";
  const std::string place = absl::StrCat(what, " the scratch file in ", folder_,
                                         " at ", operation.offset);
  if (count < 0) return absl::ErrnoToStatus(errno, place);
  return absl::DataLossError(absl::StrCat(
      place, ": ", count, " of ", operation.bytes, " bytes were transferred"));
}

}  // namespace distbench::bench
