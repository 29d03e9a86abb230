// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/files/tarball.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/results/output_file.h"

namespace distbench::bench {
namespace {

struct FreeArchive {
  void operator()(archive* tar) const { archive_write_free(tar); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;
using Entry = std::unique_ptr<archive_entry, FreeEntry>;

constexpr int kFileMode = 0644;

absl::Status ErrorOf(archive* tar, const std::string& path) {
  const char* message = archive_error_string(tar);
  return absl::UnknownError(absl::StrCat(
      "cannot write ", path, ": ", message == nullptr ? "no memory" : message));
}

bool Open(archive* tar, int fd) {
  return archive_write_set_format_pax_restricted(tar) == ARCHIVE_OK &&
         archive_write_add_filter_gzip(tar) == ARCHIVE_OK &&
         // gzip would note the time otherwise.
         archive_write_set_filter_option(tar, "gzip", "timestamp", nullptr) ==
             ARCHIVE_OK &&
         archive_write_open_fd(tar, fd) == ARCHIVE_OK;
}

bool Add(archive* tar, const PackedFile& file) {
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), file.name.c_str());
  archive_entry_set_size(entry.get(), static_cast<int64_t>(file.bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), kFileMode);
  archive_entry_set_mtime(entry.get(), 0, 0);
  // A warning says that the name is not in the locale's character set; it is
  // written as it is.
  if (archive_write_header(tar, entry.get()) < ARCHIVE_WARN) return false;
  return archive_write_data(tar, file.bytes.data(), file.bytes.size()) ==
         static_cast<la_ssize_t>(file.bytes.size());
}

}  // namespace

absl::Status WriteTarball(absl::Span<const PackedFile> files,
                          const std::string& path) {
  const absl::StatusOr<std::unique_ptr<results::OutputFile>> output =
      results::OutputFile::Open(path);
  if (!output.ok()) return output.status();
  const Archive tar(archive_write_new());
  if (!Open(tar.get(), (*output)->fd())) return ErrorOf(tar.get(), path);
  for (const PackedFile& file : files) {
    if (!Add(tar.get(), file)) return ErrorOf(tar.get(), path);
  }
  if (archive_write_close(tar.get()) != ARCHIVE_OK) {
    return ErrorOf(tar.get(), path);
  }
  return (*output)->Commit();
}

}  // namespace distbench::bench
