// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/result_assembler.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/results/merge.h"

namespace distbench::results {
namespace {

constexpr char kIncomplete[] = "the result is not complete";

}  // namespace

absl::Status ResultAssembler::Add(RunTestsEvent& event) {
  if (event.test_index() < 0 || event.test_index() >= test_count_) {
    return absl::InternalError(
        absl::StrCat("the test sequencer sent an event of test ",
                     event.test_index(), " of ", test_count_));
  }
  if (event.has_result_chunk()) {
    return MergeChunk(std::move(*event.mutable_result_chunk()),
                      *Result(event.test_index()).mutable_service_logs());
  }
  if (event.has_finished()) {
    TestResult& result = Result(event.test_index());
    result.clear_run_info();  // that it was incomplete
    result.MergeFrom(event.finished());
    incomplete_.erase(event.test_index());
  }
  return absl::OkStatus();
}

void ResultAssembler::MarkIncomplete(absl::string_view reason) {
  for (int index : incomplete_) {
    results_.mutable_test_results(index)->mutable_run_info()->set_failure(
        std::string(reason));
  }
}

TestResult& ResultAssembler::Result(int index) {
  while (results_.test_results_size() <= index) {
    incomplete_.insert(results_.test_results_size());
    results_.add_test_results()->mutable_run_info()->set_failure(kIncomplete);
  }
  return *results_.mutable_test_results(index);
}

}  // namespace distbench::results
