#include "distbench/products/history/run_file.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/results/merge.h"
#include "distbench/results/result_file.h"
#include "distbench/sequencer/runs/result_file.h"
#include "distbench/sequencer/runs/result_log.h"
#include "google/protobuf/text_format.h"

namespace distbench::history {
namespace {

constexpr int64_t kMaxDescriptionBytes = 64 << 20;

// Puts the events of a run together.
class RunAssembler {
 public:
  RunAssembler(int test_count, TestSequenceResults& results)
      : results_(results), is_finished_(test_count) {
    for (int i = 0; i < test_count; ++i) results_.add_test_results();
  }

  absl::Status Add(const std::string& record) {
    RunTestsEvent event;
    if (!event.ParseFromString(record)) {
      return absl::DataLossError("a record is not the event of a run");
    }
    const int test = event.test_index();
    if (test < 0 || test >= results_.test_results_size()) {
      return absl::DataLossError(
          absl::StrCat("there is an event of test ", test));
    }
    TestResult& result = *results_.mutable_test_results(test);
    if (event.has_result_chunk()) {
      return results::MergeChunk(std::move(*event.mutable_result_chunk()),
                                 *result.mutable_service_logs());
    }
    if (event.has_finished()) {
      result.MergeFrom(event.finished());
      is_finished_[test] = true;
    }
    return absl::OkStatus();
  }

  // Removes tests that never ran, and notes that others did not end.
  void Finish() {
    int kept = 0;
    for (size_t i = 0; i < is_finished_.size(); ++i) {
      TestResult& result = *results_.mutable_test_results(i);
      if (!is_finished_[i] && result.ByteSizeLong() > 0) {
        result.mutable_run_info()->set_failure("the run ended before the test");
      }
      if (result.ByteSizeLong() == 0) continue;
      results_.mutable_test_results()->SwapElements(kept++, i);
    }
    results_.mutable_test_results()->DeleteSubrange(
        kept, results_.test_results_size() - kept);
  }

 private:
  TestSequenceResults& results_;
  std::vector<bool> is_finished_;
};

absl::Status Assemble(const std::string& path, int64_t size,
                      RunAssembler& assembler) {
  absl::StatusOr<std::unique_ptr<sequencer::ResultFile>> file =
      sequencer::OpenResultFile(path, size);
  if (!file.ok()) return file.status();
  int64_t offset = sequencer::ResultLog::kBegin;
  while (offset < size) {
    const absl::StatusOr<std::string> record = (*file)->Read(offset);
    if (!record.ok()) return record.status();
    if (absl::Status status = assembler.Add(*record); !status.ok()) {
      return status;
    }
    offset += sequencer::ResultLog::SizeInFile(*record);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RunDescription> ReadRunDescription(const std::string& path) {
  const absl::StatusOr<std::string> text =
      base::ReadFile(path, kMaxDescriptionBytes);
  if (!text.ok()) return text.status();
  RunDescription run;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // a later version's
  if (!parser.ParseFromString(*text, &run)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not the description of a run"));
  }
  return run;
}

bool IsKept(const RunDescription& run) {
  return run.result_bytes() > 0 && run.state() != RunDescription::WAITING &&
         run.state() != RunDescription::RUNNING;
}

absl::StatusOr<KeptResults> ReadRunResult(const std::string& path,
                                          const RunDescription& run,
                                          int64_t max_bytes) {
  if (run.result_bytes() > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot read ", path, ": it has ",
                     run.result_bytes() >> 20, " MiB, and ", max_bytes >> 20,
                     " MiB are the limit here; distbench runs get ", run.id(),
                     " fetches it from its sequencer"));
  }
  KeptResults kept = {.results = {}, .run_id = run.id(), .label = run.label()};
  RunAssembler assembler(run.test_names_size(), kept.results);
  absl::Status status = Assemble(path, run.result_bytes(), assembler);
  if (status.ok()) {
    assembler.Finish();
    status = results::CompleteResults(kept.results);
  }
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat("cannot read ", path, ": ",
                                                    status.message()));
  }
  return kept;
}

}  // namespace distbench::history
