// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/data_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/activity/shared_cache.h"
#include "distbench/base/work_random.h"

namespace distbench::activity {
namespace {

absl::Status ErrorIn(const std::string& directory, int error,
                     const std::string& problem, const std::string& remedy) {
  return absl::ErrnoToStatus(
      error,
      absl::StrCat("directory \"", directory, "\": ", problem, "; ", remedy));
}

absl::Status Reserve(int file, const DataFileOptions& options) {
  const int64_t bytes = options.pages * config::kFilePageBytes;
  const int error = posix_fallocate(file, 0, bytes);
  if (error == 0) return absl::OkStatus();
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "directory \"", options.directory, "\" has no space for a file of ",
        bytes, " bytes; make the data smaller, or name another directory"));
  }
  return ErrorIn(options.directory, error, "cannot reserve space there",
                 "name a directory of another file system");
}

}  // namespace

void FillPages(uint64_t seed, int64_t first, absl::Span<FilePage> pages) {
  for (size_t i = 0; i < pages.size(); ++i) {
    base::WorkRandom random(seed, first + i);
    std::generate(pages[i].words.begin(), pages[i].words.end(),
                  std::ref(random));
  }
}

uint64_t ChecksumOf(absl::Span<const FilePage> pages) {
  uint64_t sum = 0;
  for (const FilePage& page : pages) sum += page.words.front();
  return sum;
}

absl::StatusOr<DataFile> DataFile::Create(const DataFileOptions& options) {
  base::FileDescriptor file = base::CreateNameless(options.directory);
  if (!file.is_open()) {
    return ErrorIn(options.directory, errno, "cannot create a file there",
                   "create the directory on every node, writable for "
                   "distbench, or name another one");
  }
  DataFile data(std::move(file), options.pages);
  if (absl::Status status = data.Prepare(options); !status.ok()) return status;
  return data;
}

absl::Status DataFile::Prepare(const DataFileOptions& options) const {
  if (absl::Status status = Reserve(file_.get(), options); !status.ok()) {
    return status;
  }
  // In pieces, so that little of it is waiting to be written at a time: the
  // data may be larger than the memory that this process may use.
  constexpr int64_t kPiecePages = 2048;
  const int64_t filled = options.is_filled ? pages_ : 0;
  std::vector<FilePage> piece(std::min(kPiecePages, filled));
  for (int64_t first = 0; first < filled; first += kPiecePages) {
    const auto pages =
        absl::MakeSpan(piece).first(std::min(kPiecePages, filled - first));
    FillPages(options.seed, first, pages);
    if (!Write(first, pages) || !Sync()) {
      return ErrorIn(options.directory, errno, "cannot write to it",
                     "look at the disk, or name another directory");
    }
  }
  if (!options.is_direct) return absl::OkStatus();
  constexpr off_t kAll = 0;
  posix_fadvise(file_.get(), 0, kAll, POSIX_FADV_DONTNEED);
  if (fcntl(file_.get(), F_SETFL, O_RDWR | O_DIRECT) != 0) {
    return ErrorIn(options.directory, errno,
                   "its file system has no direct I/O",
                   "set io to \"cached\", or name another directory");
  }
  return absl::OkStatus();
}

bool DataFile::Read(int64_t first, absl::Span<FilePage> pages) const {
  return base::ReadAllAt(file_.get(), first * config::kFilePageBytes,
                         absl::MakeSpan(reinterpret_cast<char*>(pages.data()),
                                        pages.size() * config::kFilePageBytes));
}

bool DataFile::Write(int64_t first, absl::Span<const FilePage> pages) const {
  return WriteBytes(first * config::kFilePageBytes,
                    absl::MakeSpan(reinterpret_cast<const char*>(pages.data()),
                                   pages.size() * config::kFilePageBytes));
}

bool DataFile::WriteBytes(int64_t offset, absl::Span<const char> data) const {
  return base::WriteAllAt(file_.get(), offset, data);
}

bool DataFile::Sync() const { return fdatasync(file_.get()) == 0; }

SharedDataFile ShareDataFile(const std::string& name,
                             const DataFileOptions& options) {
  using Key =
      std::tuple<std::string, std::string, int64_t, bool, bool, uint64_t>;
  static auto* const cache = new SharedCache<Key, absl::StatusOr<DataFile>>;
  return cache->Get({name, options.directory, options.pages, options.is_direct,
                     options.is_filled, options.seed},
                    [&] { return DataFile::Create(options); });
}

}  // namespace distbench::activity
