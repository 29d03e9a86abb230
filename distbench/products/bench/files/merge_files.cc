#include "distbench/products/bench/files/merge_files.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/products/bench/files/job_identity.h"
#include "distbench/products/bench/jobs/job_spec.h"

namespace distbench::bench {
namespace {

// The groups in the order of their first jobs.
class Groups {
 public:
  void Add(BenchJob job) {
    const auto [place, is_new] = places_.emplace(GroupKeyOf(job), jobs_.size());
    if (is_new) jobs_.emplace_back();
    std::vector<BenchJob>& group = jobs_[place->second];
    job.set_repetition(static_cast<int>(group.size()));
    group.push_back(std::move(job));
  }

  void MoveTo(BenchFile& file) {
    for (std::vector<BenchJob>& group : jobs_) {
      for (BenchJob& job : group) *file.add_jobs() = std::move(job);
    }
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::vector<BenchJob>> jobs_;
};

std::string TitleOf(const BenchJob& job) {
  return JobTitle(job.kind(), job.id());
}

// A job is the same if it is, and started when the other did on its hosts.
std::string OccasionOf(const BenchJob& job) {
  std::string key =
      absl::StrCat(RequestOf(job), "\n", job.start_timestamp_ns());
  for (const BenchSystem& system : job.systems()) {
    absl::StrAppend(&key, "\n", system.hostname());
  }
  return key;
}

absl::Status CheckRequirements(const SourcedBenchFile& source,
                               const BenchJob& job) {
  if (job.missed_requirements().empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      source.source, ": ", TitleOf(job),
      " ran on a host that misses "
      "requirements: ",
      absl::StrJoin(job.missed_requirements(), "; "),
      ". Run it again on a host that meets them, or merge with --force"));
}

}  // namespace

absl::StatusOr<MergedBenchFile> MergeBenchFiles(
    absl::Span<const SourcedBenchFile> sources, bool force) {
  MergedBenchFile merged;
  Groups groups;
  std::map<std::string, std::string> occasions;
  for (const SourcedBenchFile& source : sources) {
    merged.file.set_format_version(source.file.format_version());
    for (const BenchJob& job : source.file.jobs()) {
      if (job.state() != BenchJob::DONE) {
        merged.left_out.push_back(
            absl::StrCat(source.source, ": ", TitleOf(job), " is not done"));
        continue;
      }
      const absl::Status required = CheckRequirements(source, job);
      if (!required.ok() && !force) return required;
      const auto [first, is_new] =
          occasions.emplace(OccasionOf(job), source.source);
      if (!is_new) {
        return absl::InvalidArgumentError(
            absl::StrCat(TitleOf(job), " is in ", first->second, " and in ",
                         source.source, "; leave one of these files out"));
      }
      BenchJob copy = job;
      if (!copy.has_origin()) copy.set_origin(source.source);
      groups.Add(std::move(copy));
    }
  }
  groups.MoveTo(merged.file);
  if (merged.file.jobs().empty()) {
    return absl::InvalidArgumentError(
        "there is nothing to merge: no file has a job that is done");
  }
  return merged;
}

}  // namespace distbench::bench
