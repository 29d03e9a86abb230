// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/result_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/digest.h"
#include "distbench/base/files.h"
#include "distbench/base/time_units.h"
#include "distbench/results/result_file.h"
#include "distbench/sequencer/runs/kept_run.h"

namespace distbench::history {
namespace {

namespace fs = std::filesystem;

bool IsRun(absl::string_view name) {
  return absl::EndsWith(name, sequencer::kRunResultSuffix);
}

bool IsResult(absl::string_view name) {
  return absl::EndsWith(name, ".pb") || absl::EndsWith(name, ".pb.gz") ||
         IsRun(name);
}

// Digits of a hash, two for each of its first bytes.
std::string Digits(const std::string& of, size_t bytes) {
  return absl::BytesToHexString(base::Sha256(of).substr(0, bytes));
}

bool IsNamedBefore(const ResultEntry& a, const ResultEntry& b) {
  return a.name < b.name;
}

std::string PathOf(const base::FileDescriptor& file) {
  return absl::StrCat("/proc/self/fd/", file.get());
}

// The error about a file that was read by its path in /proc.
absl::Status Named(const absl::Status& error, const std::string& path,
                   const std::string& name) {
  return absl::Status(error.code(),
                      absl::StrReplaceAll(error.message(), {{path, name}}));
}

// ---- A folder ---------------------------------------------------------------

// The names of its files begin with a prefix, which is empty if there is no
// other folder. Methods are those of ResultSource.
class ResultFolder {
 public:
  ResultFolder(fs::path root, std::string prefix)
      : root_(std::move(root)), prefix_(std::move(prefix)) {}

  const fs::path& root() const { return root_; }
  const std::string& prefix() const { return prefix_; }

  // What ids have before the '.'; empty if there is no other folder.
  std::string Id() const {
    constexpr size_t kBytes = 4;
    return prefix_.empty() ? "" : Digits(root_.string(), kBytes);
  }

  absl::StatusOr<std::vector<ResultEntry>> List() const;
  absl::StatusOr<KeptResults> Read(const std::string& name,
                                   int64_t max_bytes) const;
  bool IsUnchanged(const ResultEntry& entry) const {
    return EntryOf(entry.name) == entry;
  }
  absl::StatusOr<base::FileDescriptor> Open(const std::string& name) const;

  std::string NameInFolder(const std::string& name) const {
    return std::string(absl::StripPrefix(name, prefix_));
  }
  std::string PathOfFile(const std::string& name) const {
    return root_ / NameInFolder(name);
  }

 private:
  absl::StatusOr<RunDescription> DescribeRun(const std::string& name) const;

  // The entry of a file now, if there is one.
  std::optional<ResultEntry> EntryOf(const std::string& name) const;

  // What is in the file; nothing if its run has not ended.
  absl::StatusOr<std::optional<KeptResults>> ReadNow(const std::string& name,
                                                     int64_t max_bytes) const;

  const fs::path root_;  // without symbolic links
  const std::string prefix_;
};

absl::StatusOr<base::FileDescriptor> ResultFolder::Open(
    const std::string& name) const {
  const std::string path = PathOfFile(name);
  base::FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name));
  }
  // A symbolic link on the way leads to another path.
  std::error_code error;
  const fs::path opened = fs::read_symlink(PathOf(file), error);
  struct stat attributes;
  if (error || opened != path || fstat(file.get(), &attributes) != 0 ||
      !S_ISREG(attributes.st_mode)) {
    return absl::NotFoundError(
        absl::StrCat("cannot read ", name, ": it is no file in ",
                     root_.string(), ", or a symbolic link leads to it"));
  }
  return file;
}

absl::StatusOr<RunDescription> ResultFolder::DescribeRun(
    const std::string& name) const {
  const std::string description = sequencer::DescriptionFileOf(name);
  const absl::StatusOr<base::FileDescriptor> file = Open(description);
  if (!file.ok()) return file.status();
  const std::string path = PathOf(*file);
  absl::StatusOr<RunDescription> run = sequencer::ReadRunDescription(path);
  if (!run.ok()) return Named(run.status(), path, description);
  return run;
}

std::optional<ResultEntry> ResultFolder::EntryOf(
    const std::string& name) const {
  // The description changes whenever there is more of a run's result.
  const std::string told =
      IsRun(name) ? sequencer::DescriptionFileOf(name) : name;
  struct stat attributes;
  if (lstat(PathOfFile(told).c_str(), &attributes) != 0) return std::nullopt;
  return ResultEntry{
      .name = name,
      .size_bytes = attributes.st_size,
      .modified_ns = attributes.st_mtim.tv_sec * base::kNsPerSecond +
                     attributes.st_mtim.tv_nsec};
}

absl::StatusOr<std::vector<ResultEntry>> ResultFolder::List() const {
  std::vector<ResultEntry> entries;
  std::error_code error;
  fs::recursive_directory_iterator it(
      root_, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end;
       it.increment(error)) {
    std::error_code unknown;
    if (!it->is_regular_file(unknown) || it->is_symlink(unknown)) continue;
    const std::string name =
        absl::StrCat(prefix_, it->path().lexically_relative(root_).string());
    if (!IsResult(name)) continue;
    const std::optional<ResultEntry> entry = EntryOf(name);
    if (entry) entries.push_back(*entry);
  }
  if (error) {
    return absl::UnknownError(
        absl::StrCat("cannot list ", root_.string(), ": ", error.message()));
  }
  absl::c_sort(entries, IsNamedBefore);
  return entries;
}

absl::StatusOr<std::optional<KeptResults>> ResultFolder::ReadNow(
    const std::string& name, int64_t max_bytes) const {
  const absl::StatusOr<base::FileDescriptor> file = Open(name);
  if (!file.ok()) return file.status();
  const std::string path = PathOf(*file);
  KeptResults kept;
  absl::StatusOr<TestSequenceResults> results;
  if (IsRun(name)) {
    const absl::StatusOr<RunDescription> run = DescribeRun(name);
    if (!run.ok()) return run.status();
    if (!sequencer::HasFinalResult(*run)) return std::nullopt;
    kept.run_id = run->id();
    kept.label = run->label();
    kept.start_ns = run->start_timestamp_ns();
    kept.is_step = run->is_step();
    results = sequencer::ReadRunResult(path, *run, max_bytes);
  } else {
    results = results::ReadResults(path, max_bytes);
  }
  if (!results.ok()) return Named(results.status(), path, name);
  kept.results = *std::move(results);
  return kept;
}

absl::StatusOr<KeptResults> ResultFolder::Read(const std::string& name,
                                               int64_t max_bytes) const {
  absl::StatusOr<std::optional<KeptResults>> kept = ReadNow(name, max_bytes);
  // Some errors of network file systems have this code, too.
  if (absl::IsUnavailable(kept.status())) {
    return absl::UnknownError(kept.status().message());
  }
  if (!kept.ok()) return kept.status();
  if (*kept) return **std::move(kept);
  return absl::UnavailableError(absl::StrCat(name, " has not ended"));
}

// ---- Folders ----------------------------------------------------------------

// At least one.
class FolderSet final : public ResultFolders {
 public:
  explicit FolderSet(std::vector<ResultFolder> folders)
      : folders_(std::move(folders)) {}

  absl::StatusOr<std::vector<ResultEntry>> List() const override;
  absl::StatusOr<KeptResults> Read(const std::string& name,
                                   int64_t max_bytes) const override {
    return FolderOf(name).Read(name, max_bytes);
  }
  bool IsUnchanged(const ResultEntry& entry) const override {
    return FolderOf(entry.name).IsUnchanged(entry);
  }
  absl::StatusOr<base::FileDescriptor> Open(
      const std::string& name) const override {
    return FolderOf(name).Open(name);
  }
  std::string IdOf(const std::string& name) const override;
  NotesPaths Notes() const override;
  std::string Identity() const override;

 private:
  const ResultFolder& FolderOf(const std::string& name) const;

  const std::vector<ResultFolder> folders_;
};

// Paths by which folders were given may begin alike: "a", and "a/link", which
// leads elsewhere.
const ResultFolder& FolderSet::FolderOf(const std::string& name) const {
  const ResultFolder* found = &folders_.front();
  size_t length = 0;
  for (const ResultFolder& folder : folders_) {
    const std::string& prefix = folder.prefix();
    if (prefix.size() < length || !absl::StartsWith(name, prefix)) continue;
    found = &folder;
    length = prefix.size();
  }
  return *found;
}

absl::StatusOr<std::vector<ResultEntry>> FolderSet::List() const {
  std::vector<ResultEntry> all;
  std::set<std::pair<dev_t, ino_t>> known;
  for (const ResultFolder& folder : folders_) {
    const absl::StatusOr<std::vector<ResultEntry>> entries = folder.List();
    if (!entries.ok()) return entries.status();
    for (const ResultEntry& entry : *entries) {
      struct stat attributes;
      if (lstat(folder.PathOfFile(entry.name).c_str(), &attributes) != 0 ||
          !known.emplace(attributes.st_dev, attributes.st_ino).second) {
        continue;
      }
      all.push_back(entry);
    }
  }
  absl::c_sort(all, IsNamedBefore);
  return all;
}

std::string FolderSet::IdOf(const std::string& name) const {
  const ResultFolder& folder = FolderOf(name);
  const std::string id = folder.Id();
  return absl::StrCat(id, id.empty() ? "" : ".",
                      ResultSource::IdOf(folder.NameInFolder(name)));
}

NotesPaths FolderSet::Notes() const {
  NotesPaths paths;
  for (const ResultFolder& folder : folders_) {
    paths[folder.Id()] = folder.root() / kNotesFile;
  }
  return paths;
}

std::string FolderSet::Identity() const {
  if (folders_.size() == 1) return folders_.front().root();
  std::string identity;
  for (const ResultFolder& folder : folders_) {
    absl::StrAppend(&identity, folder.root().string(), "\n", folder.prefix(),
                    "\n");
  }
  return identity;
}

// A path as it was given, and the folder.
struct GivenFolder {
  std::string path;
  fs::path root;
};

absl::StatusOr<GivenFolder> FindFolder(const std::string& path) {
  const std::string problem = absl::StrCat("cannot read the folder ", path);
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (error) {
    return absl::Status(
        absl::ErrnoToStatusCode(error.value()),
        absl::StrCat(problem, ": ", error.message(),
                     "; give the one that run_tests --outfile writes to, or a "
                     "sequencer's --results_dir"));
  }
  if (fs::is_directory(root, error)) return GivenFolder{path, root};
  return absl::InvalidArgumentError(
      absl::StrCat(problem, ": it is a file; give the folder that it is in, ",
                   fs::path(root).parent_path().string()));
}

// Whether `inner` is in `outer`, or is the same.
bool IsIn(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end())
             .first == outer.end();
}

// Leaves out those that are parts of others, and all but the first of equals.
std::vector<GivenFolder> WithoutParts(const std::vector<GivenFolder>& given) {
  std::vector<GivenFolder> kept;
  for (const GivenFolder& folder : given) {
    const auto has_folder = [&](const GivenFolder& other) {
      return IsIn(folder.root, other.root);
    };
    if (absl::c_any_of(kept, has_folder)) continue;
    std::erase_if(kept, [&](const GivenFolder& other) {
      return IsIn(other.root, folder.root);
    });
    kept.push_back(folder);
  }
  return kept;
}

}  // namespace

std::string ResultSource::IdOf(const std::string& name) const {
  constexpr size_t kBytes = 8;
  return Digits(name, kBytes);
}

absl::StatusOr<std::unique_ptr<ResultFolders>> OpenResultFolders(
    const std::vector<std::string>& paths) {
  std::vector<GivenFolder> given;
  for (const std::string& path : paths) {
    absl::StatusOr<GivenFolder> folder = FindFolder(path);
    if (!folder.ok()) return folder.status();
    given.push_back(*std::move(folder));
  }
  given = WithoutParts(given);
  std::vector<ResultFolder> folders;
  for (const GivenFolder& folder : given) {
    const std::string prefix =
        given.size() == 1
            ? ""
            : absl::StrCat(absl::StripSuffix(folder.path, "/"), "/");
    folders.emplace_back(folder.root, prefix);
  }
  return std::make_unique<FolderSet>(std::move(folders));
}

}  // namespace distbench::history
