// The bodies of `distbench bench` that read and write result files.

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/cli/output.h"
#include "distbench/products/bench/command.h"
#include "distbench/products/bench/execution/sequence.h"
#include "distbench/products/bench/files/bench_file.h"
#include "distbench/products/bench/files/merge_files.h"
#include "distbench/products/bench/files/tarball.h"
#include "distbench/products/bench/jobs/named_jobs.h"
#include "distbench/products/bench/reports/job_selection.h"
#include "distbench/products/bench/reports/job_text.h"
#include "distbench/products/bench/reports/packed_jobs.h"
#include "distbench/report/findings/verdict.h"

namespace distbench::bench {

namespace {

absl::StatusOr<BenchFile> ReadResult(const BenchFlags& flags) {
  if (flags.result.empty()) {
    return absl::InvalidArgumentError(
        "name the result file: distbench bench -r FILE ...");
  }
  return ReadBenchFile(flags.result);
}

absl::StatusOr<int> ListNamedJobs(const std::string& path) {
  const absl::StatusOr<std::string> yaml = base::ReadFile(path);
  if (!yaml.ok()) return yaml.status();
  const absl::StatusOr<std::vector<NamedJob>> jobs =
      ParseNamedJobs(*yaml, path);
  if (!jobs.ok()) return jobs.status();
  std::cout << NamedJobsText(*jobs) << std::flush;
  return report::kExitOk;
}

// "host1" of "results/host1.pb.gz".
std::string NameWithoutSuffix(const std::string& path) {
  absl::string_view name = path;
  absl::ConsumeSuffix(&name, ".gz");
  absl::ConsumeSuffix(&name, ".pb");
  return std::string(name);
}

// The folder in the archive of a result file, within the folder into which it
// is unpacked.
std::string FolderOf(const std::string& result) {
  std::string name =
      NameWithoutSuffix(std::filesystem::path(result).filename().string());
  if (name.empty() || name == "." || name == "..") return "bench";
  return name;
}

}  // namespace

absl::StatusOr<int> ListBench(const BenchFlags& flags) {
  if (flags.result.empty() && !flags.jobs.empty()) {
    return ListNamedJobs(flags.jobs);
  }
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  std::cout << ListText(*file, absl::LocalTimeZone()) << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> StudyBench(const BenchFlags& flags) {
  if (const auto exists = ReadResult(flags); !exists.ok()) {
    return exists.status();
  }
  const absl::StatusOr<std::unique_ptr<OpenBenchFile>> file =
      OpenBenchFile::Open(flags.result);
  if (!file.ok()) return file.status();
  const std::vector<std::string> problems = StudyAll((*file)->content());
  const absl::Status saved = (*file)->Save();
  if (!saved.ok()) return cli::Fail(saved, report::kExitRunFailed);
  for (const std::string& problem : problems)
    cli::Fail(problem, report::kExitRunFailed);
  std::cout << SummaryText((*file)->content()) << std::flush;
  return problems.empty() ? report::kExitOk : report::kExitRunFailed;
}

absl::StatusOr<int> FormatBench(const BenchFlags& flags) {
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  const absl::StatusOr<std::vector<const BenchJob*>> jobs =
      SelectJobs(*file, flags.arguments);
  if (!jobs.ok()) return jobs.status();
  bool is_first = true;
  for (const BenchJob* job : *jobs) {
    if (!is_first) std::cout << '\n';
    is_first = false;
    std::cout << JobText(*job, absl::LocalTimeZone());
  }
  std::cout << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> SummariseBench(const BenchFlags& flags) {
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  std::cout << SummaryText(*file) << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> MergeBench(const BenchFlags& flags) {
  if (flags.result.empty()) {
    return absl::InvalidArgumentError(
        "name the new file: distbench bench -r FILE merge ...");
  }
  std::error_code ignored;
  if (std::filesystem::exists(flags.result, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.result, " exists already; name a new file with -r"));
  }
  std::vector<SourcedBenchFile> sources;
  for (const std::string& path : flags.arguments) {
    absl::StatusOr<BenchFile> file = ReadBenchFile(path);
    if (!file.ok()) return file.status();
    sources.push_back({path, *std::move(file)});
  }
  const absl::StatusOr<MergedBenchFile> merged =
      MergeBenchFiles(sources, flags.force);
  if (!merged.ok()) return merged.status();
  for (const std::string& sentence : merged->left_out) {
    std::cerr << "Left out: " << sentence << std::endl;
  }
  const absl::Status written = WriteBenchFile(merged->file, flags.result);
  if (!written.ok()) return cli::Fail(written, report::kExitRunFailed);
  std::cout << ListText(merged->file, absl::LocalTimeZone()) << std::flush;
  return report::kExitOk;
}

absl::StatusOr<int> PackBench(const BenchFlags& flags) {
  const absl::StatusOr<BenchFile> file = ReadResult(flags);
  if (!file.ok()) return file.status();
  const std::string path =
      flags.outfile.empty()
          ? absl::StrCat(NameWithoutSuffix(flags.result), ".tar.gz")
          : flags.outfile;
  std::error_code ignored;
  if (std::filesystem::equivalent(path, flags.result, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     " is the result file itself; name another file "
                     "with --outfile"));
  }
  const absl::StatusOr<std::vector<PackedFile>> files =
      PackedJobs(*file, FolderOf(flags.result), absl::LocalTimeZone());
  if (!files.ok()) return cli::Fail(files.status(), report::kExitRunFailed);
  const absl::Status written = WriteTarball(*files, path);
  if (!written.ok()) return cli::Fail(written, report::kExitRunFailed);
  std::cout << path << std::endl;
  return report::kExitOk;
}

}  // namespace distbench::bench
