#include "distbench/products/bench/reports/packed_jobs.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/bench/reports/job_text.h"
#include "google/protobuf/message_lite.h"
#include "google/protobuf/text_format.h"

namespace distbench::bench {
namespace {

class Pack {
 public:
  explicit Pack(std::string folder) : folder_(std::move(folder)) {}

  void AddText(const std::string& name, std::string text) {
    files_.push_back({absl::StrCat(folder_, "/", name), std::move(text)});
  }

  void AddMessage(const std::string& name,
                  const google::protobuf::MessageLite& message) {
    std::string bytes;
    if (!message.SerializeToString(&bytes)) too_large_ = name;
    AddText(name, std::move(bytes));
  }

  absl::StatusOr<std::vector<PackedFile>> Take() && {
    if (too_large_.empty()) return std::move(files_);
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot pack ", too_large_,
                     ": it is larger than the 2 GiB that a message may have"));
  }

 private:
  const std::string folder_;
  std::vector<PackedFile> files_;
  std::string too_large_;
};

// "03_protection_iocost-on": kinds and ids have no characters that a file name
// cannot have.
std::string FolderOf(const BenchJob& job, int number) {
  std::string name = absl::StrFormat("%02d_%s", number, job.kind());
  if (!job.id().empty()) absl::StrAppend(&name, "_", job.id());
  return name;
}

std::string SystemsText(const BenchJob& job) {
  std::string text;
  for (const BenchSystem& system : job.systems()) {
    std::string one;
    google::protobuf::TextFormat::PrintToString(system, &one);
    absl::StrAppend(&text, one);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<PackedFile>> PackedJobs(const BenchFile& file,
                                                   const std::string& name,
                                                   absl::TimeZone zone) {
  Pack pack(name);
  pack.AddMessage("bench.pb", file);
  std::string report;
  for (int i = 0; i < file.jobs_size(); ++i) {
    const BenchJob& job = file.jobs(i);
    const std::string folder = FolderOf(job, i + 1) + "/";
    const std::string text = JobText(job, zone);
    absl::StrAppend(&report, i > 0 ? "\n" : "", text);
    pack.AddText(folder + "report.txt", text);
    pack.AddText(folder + "systems.txt", SystemsText(job));
    if (!job.tests().tests().empty()) {
      pack.AddText(folder + "tests.config", config::ToText(job.tests()));
    }
    if (job.has_results())
      pack.AddMessage(folder + "results.pb", job.results());
  }
  pack.AddText("report.txt", report);
  return std::move(pack).Take();
}

}  // namespace distbench::bench
