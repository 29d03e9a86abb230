// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/result_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/base/time_units.h"
#include "distbench/results/result_assembler.h"
#include "distbench/results/result_file.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "google/protobuf/text_format.h"

namespace distbench::history {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kRunSuffix = ".result";

bool IsRun(absl::string_view name) { return absl::EndsWith(name, kRunSuffix); }

bool IsResult(absl::string_view name) {
  return absl::EndsWith(name, ".pb") || absl::EndsWith(name, ".pb.gz") ||
         IsRun(name);
}

// "a/ID.run" of "a/ID.result".
std::string DescriptionOf(absl::string_view name) {
  return absl::StrCat(absl::StripSuffix(name, kRunSuffix), ".run");
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

// ---- Runs that a sequencer keeps with --results_dir -------------------------

constexpr int64_t kMaxDescriptionBytes = 64 << 20;

absl::Status Assemble(const std::string& path, const RunDescription& run,
                      TestSequenceResults& results) {
  const int64_t size = run.result_bytes();
  const absl::StatusOr<std::unique_ptr<sequencer::ResultFile>> file =
      sequencer::OpenResultFile(path, size);
  if (!file.ok()) return file.status();
  results::ResultAssembler assembler(run.test_names_size(), results);
  int64_t offset = sequencer::ResultFile::kBegin;
  while (offset < size) {
    const absl::StatusOr<std::string> record = (*file)->Read(offset);
    if (!record.ok()) return record.status();
    RunTestsEvent event;
    if (!event.ParseFromString(*record)) {
      return absl::DataLossError("a record is not the event of a run");
    }
    if (absl::Status status = assembler.Add(event); !status.ok()) return status;
    offset += sequencer::ResultFile::SizeOf(*record);
  }
  assembler.MarkIncomplete("the run ended before the test");
  return results::CompleteResults(results);
}

// Whether the run has a result that will not change any more.
bool HasEnded(const RunDescription& run) {
  return run.result_bytes() > 0 && run.state() != RunDescription::WAITING &&
         run.state() != RunDescription::RUNNING;
}

// Reads the result that `run` describes. What is missing of it is said by the
// failures of its tests, as in `distbench runs get`.
absl::Status ReadRunResult(const std::string& path, const RunDescription& run,
                           int64_t max_bytes, KeptResults& kept) {
  const std::string problem = absl::StrCat("cannot read ", path, ": ");
  if (run.result_bytes() > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        problem, "it has ", run.result_bytes() >> 20, " MiB, and ",
        max_bytes >> 20, " MiB are the limit here; distbench runs get ",
        run.id(), " fetches it from its sequencer"));
  }
  kept.run_id = run.id();
  kept.label = run.label();
  const absl::Status status = Assemble(path, run, kept.results);
  return absl::Status(status.code(), absl::StrCat(problem, status.message()));
}

// ---- The folder -------------------------------------------------------------

class ResultFolder final : public ResultSource {
 public:
  explicit ResultFolder(fs::path root) : root_(std::move(root)) {}

  absl::StatusOr<std::vector<ResultEntry>> List() const override;
  absl::StatusOr<KeptResults> Read(const std::string& name,
                                   int64_t max_bytes) const override;
  bool IsUnchanged(const ResultEntry& entry) const override {
    return EntryOf(entry.name) == entry;
  }
  absl::StatusOr<base::FileDescriptor> Open(
      const std::string& name) const override;

 private:
  absl::StatusOr<RunDescription> DescribeRun(const std::string& name) const;

  // The entry of a file now, if there is one.
  std::optional<ResultEntry> EntryOf(const std::string& name) const;

  // What is in the file; nothing if its run has not ended.
  absl::StatusOr<std::optional<KeptResults>> ReadNow(const std::string& name,
                                                     int64_t max_bytes) const;

  const fs::path root_;  // without symbolic links
};

absl::StatusOr<base::FileDescriptor> ResultFolder::Open(
    const std::string& name) const {
  const std::string path = root_ / name;
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
  const std::string description = DescriptionOf(name);
  const absl::StatusOr<base::FileDescriptor> file = Open(description);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::string> text =
      base::ReadFile(PathOf(*file), kMaxDescriptionBytes);
  if (!text.ok()) return Named(text.status(), PathOf(*file), description);
  RunDescription run;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // a later version's
  if (parser.ParseFromString(*text, &run)) return run;
  return absl::InvalidArgumentError(
      absl::StrCat(description, " is not the description of a run"));
}

std::optional<ResultEntry> ResultFolder::EntryOf(
    const std::string& name) const {
  // The description changes whenever there is more of a run's result.
  const std::string told = IsRun(name) ? DescriptionOf(name) : name;
  struct stat attributes;
  if (lstat((root_ / told).c_str(), &attributes) != 0) return std::nullopt;
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
    const std::string name = it->path().lexically_relative(root_);
    if (!IsResult(name)) continue;
    const std::optional<ResultEntry> entry = EntryOf(name);
    if (entry) entries.push_back(*entry);
  }
  if (error) {
    return absl::UnknownError(
        absl::StrCat("cannot list ", root_.string(), ": ", error.message()));
  }
  absl::c_sort(entries, [](const ResultEntry& a, const ResultEntry& b) {
    return a.name < b.name;
  });
  return entries;
}

absl::StatusOr<std::optional<KeptResults>> ResultFolder::ReadNow(
    const std::string& name, int64_t max_bytes) const {
  const absl::StatusOr<base::FileDescriptor> file = Open(name);
  if (!file.ok()) return file.status();
  const std::string path = PathOf(*file);
  KeptResults kept;
  absl::Status status;
  if (IsRun(name)) {
    const absl::StatusOr<RunDescription> run = DescribeRun(name);
    if (!run.ok()) return run.status();
    if (!HasEnded(*run)) return std::nullopt;
    status = ReadRunResult(path, *run, max_bytes, kept);
  } else {
    absl::StatusOr<TestSequenceResults> results =
        results::ReadResults(path, max_bytes);
    status = results.status();
    if (status.ok()) kept.results = *std::move(results);
  }
  if (!status.ok()) return Named(status, path, name);
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

}  // namespace

absl::StatusOr<std::unique_ptr<ResultSource>> OpenResultFolder(
    const std::string& path) {
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (!error && !fs::is_directory(root, error)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) {
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("cannot read the folder ", path));
  }
  return std::make_unique<ResultFolder>(root);
}

}  // namespace distbench::history
