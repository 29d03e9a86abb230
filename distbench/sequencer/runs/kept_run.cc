// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/kept_run.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/results/result_assembler.h"
#include "distbench/results/result_file.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_state.h"
#include "google/protobuf/text_format.h"

namespace distbench::sequencer {
namespace {

constexpr int64_t kMaxBytesOfDescription = 64 << 20;

absl::Status Assemble(const std::string& path, const RunDescription& run,
                      TestSequenceResults& results) {
  const int64_t size = run.result_bytes();
  const absl::StatusOr<std::unique_ptr<ResultFile>> file =
      OpenResultFile(path, size);
  if (!file.ok()) return file.status();
  results::ResultAssembler assembler(run.test_names_size(), results);
  int64_t offset = ResultFile::kBegin;
  while (offset < size) {
    const absl::StatusOr<std::string> record = (*file)->Read(offset);
    if (!record.ok()) return record.status();
    RunTestsEvent event;
    if (!event.ParseFromString(*record)) {
      return absl::DataLossError("a record is not the event of a run");
    }
    if (absl::Status status = assembler.Add(event); !status.ok()) return status;
    offset += ResultFile::SizeOf(*record);
  }
  assembler.MarkIncomplete("the run ended before the test");
  return results::CompleteResults(results);
}

}  // namespace

std::string DescriptionFileOf(absl::string_view result_path) {
  return absl::StrCat(absl::StripSuffix(result_path, kRunResultSuffix), ".run");
}

absl::StatusOr<RunDescription> ReadRunDescription(const std::string& path) {
  const absl::StatusOr<std::string> text =
      base::ReadFile(path, kMaxBytesOfDescription);
  if (!text.ok()) return text.status();
  RunDescription run;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // a later version's
  if (parser.ParseFromString(*text, &run)) return run;
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is not the description of a run"));
}

bool HasFinalResult(const RunDescription& run) {
  return run.result_bytes() > 0 && HasEnded(run);
}

absl::StatusOr<TestSequenceResults> ReadRunResult(const std::string& path,
                                                  const RunDescription& run,
                                                  int64_t max_bytes) {
  const std::string problem = absl::StrCat("cannot read ", path, ": ");
  if (run.result_bytes() > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        problem, "it has ", run.result_bytes() >> 20, " MiB, and ",
        max_bytes >> 20, " MiB are the limit here; distbench runs get ",
        run.id(), " fetches it from its sequencer"));
  }
  TestSequenceResults results;
  const absl::Status status = Assemble(path, run, results);
  if (status.ok()) return results;
  return absl::Status(status.code(), absl::StrCat(problem, status.message()));
}

}  // namespace distbench::sequencer
