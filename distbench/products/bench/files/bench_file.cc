// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/files/bench_file.h"

#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/results/result_file.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"

namespace distbench::bench {
namespace {

using google::protobuf::io::CopyingInputStreamAdaptor;

constexpr int kFormatVersion = 1;

absl::Status ParseFile(base::FileDescriptor fd, BenchFile& file) {
  results::UncompressedFile uncompressed(fd.Release());
  CopyingInputStreamAdaptor stream(&uncompressed);
  const bool is_parsed = file.ParseFromZeroCopyStream(&stream);
  // Also if the message was complete before the end of the data.
  if (absl::Status read = uncompressed.status(); !read.ok()) return read;
  if (is_parsed) return absl::OkStatus();
  return absl::DataLossError(
      "it is damaged, or no result file of distbench bench");
}

absl::Status CheckJob(BenchJob& job) {
  if (job.kind().empty() || !IsJobName(job.kind()) || !IsJobName(job.id())) {
    return absl::InvalidArgumentError(
        "its kind or id is no name of letters, digits, '_', '-' and '.'");
  }
  if (!job.has_results()) return absl::OkStatus();
  return results::CompleteResults(*job.mutable_results());
}

absl::Status CheckContent(BenchFile& file) {
  if (!file.has_format_version()) {
    return absl::InvalidArgumentError(
        "not a result file of distbench bench; results of single tests are "
        "read by distbench report");
  }
  if (file.format_version() != kFormatVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has format version ", file.format_version(),
                     ", and this distbench "
                     "reads version ",
                     kFormatVersion, "; use the distbench that wrote it"));
  }
  for (int i = 0; i < file.jobs_size(); ++i) {
    const absl::Status status = CheckJob(*file.mutable_jobs(i));
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("jobs[", i, "]: ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchFile> ReadOrBegin(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return ReadBenchFile(path);
  BenchFile file;
  file.set_format_version(kFormatVersion);
  return file;
}

}  // namespace

absl::StatusOr<BenchFile> ReadBenchFile(const std::string& path) {
  base::FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  BenchFile file;
  absl::Status status = ParseFile(std::move(fd), file);
  if (status.ok()) status = CheckContent(file);
  if (status.ok()) return file;
  return absl::Status(status.code(), absl::StrCat("cannot read ", path, ": ",
                                                  status.message()));
}

absl::Status WriteBenchFile(const BenchFile& file, const std::string& path) {
  if (file.ByteSizeLong() > INT_MAX) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot write ", path, ": the results take ", file.ByteSizeLong(),
        " bytes, and a file may have 2 GiB; use another file for further "
        "jobs"));
  }
  return results::WriteStream(
      path, [&](google::protobuf::io::ZeroCopyOutputStream& stream) {
        return file.SerializeToZeroCopyStream(&stream);
      });
}

absl::StatusOr<std::unique_ptr<OpenBenchFile>> OpenBenchFile::Open(
    const std::string& path) {
  absl::StatusOr<std::unique_ptr<results::FileLock>> lock =
      results::FileLock::Take(path);
  if (!lock.ok()) return lock.status();
  auto file = absl::WrapUnique(new OpenBenchFile(path, *std::move(lock)));
  absl::StatusOr<BenchFile> content = ReadOrBegin(path);
  if (!content.ok()) return content.status();
  file->content_ = *std::move(content);
  return file;
}

absl::Status OpenBenchFile::Save() const {
  return WriteBenchFile(content_, path_);
}

std::string RequestOf(const JobSpec& spec) {
  JobSpec request = spec;
  request.repeat = 1;
  request.keep_going = false;
  return ToText(request);
}

std::string RequestOf(const BenchJob& job) {
  JobSpec request;
  request.kind = job.kind();
  request.id = job.id();
  request.passive.assign(job.passive().begin(), job.passive().end());
  request.properties.insert(job.properties().begin(), job.properties().end());
  return ToText(request);
}

void SetIdentity(const JobSpec& spec, int repetition, BenchJob& job) {
  job.set_kind(spec.kind);
  job.set_id(spec.id);
  job.set_repetition(repetition);
  job.mutable_passive()->Assign(spec.passive.begin(), spec.passive.end());
  job.mutable_properties()->insert(spec.properties.begin(),
                                   spec.properties.end());
}

std::string GroupKeyOf(const BenchJob& job) {
  std::set<std::string> models;
  for (const BenchSystem& system : job.systems()) {
    for (const BlockDeviceFacts& device : system.devices()) {
      models.insert(device.model());
    }
  }
  std::string key =
      absl::StrCat(RequestOf(job), "\n", absl::StrJoin(models, "\n"));
  for (const DistributedSystemDescription& test : job.tests().tests()) {
    absl::StrAppend(&key, "\n", config::ConfigHash(test));
  }
  return key;
}

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
