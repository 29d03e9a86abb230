// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/library/run_entry.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/walk.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"

namespace distbench {
namespace {

absl::StatusOr<TestSequence> Build(const std::string& config) {
  test_builder::Notes notes;
  auto tests = test_builder::BuildTests({.configs = {config}}, notes);
  if (!tests.ok()) return tests.status();
  TestSequence sequence;
  for (DistributedSystemDescription& test : *tests) {
    *sequence.add_tests() = std::move(test);
  }
  return sequence;
}

}  // namespace

absl::StatusOr<DistributedSystemDescription> EntryTest(
    const LibraryEntry& entry) {
  auto sequence = entry.has_test_builder_config()
                      ? Build(entry.test_builder_config())
                      : config::LoadTestSequence(absl::StrCat(
                            "workloads/real/", entry.name(), "/test.config"));
  if (sequence.ok()) sequence = config::CheckTestSequence(*std::move(sequence));
  if (!sequence.ok()) return sequence.status();
  if (sequence->tests_size() != 1) {
    return absl::InvalidArgumentError("an entry has one test");
  }
  return sequence->tests(0);
}

absl::StatusOr<TestResult> RunSimulated(DistributedSystemDescription test,
                                        int64_t seconds, bool traced) {
  test.set_random_seed(1);
  test.set_default_protocol("loopback");
  test.clear_protocol_driver_options();
  for (Action& action : *test.mutable_actions()) {
    if (!action.iterations().has_max_duration_us()) continue;
    action.mutable_iterations()->set_max_duration_us(seconds * 1'000'000);
  }
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    if (traced) rpc.set_tracing_interval(1);
  }
  engine::VirtualTimeSystem system(
      test,
      engine::VirtualTimeOptions{.sample_memory_bytes = int64_t{1} << 30});
  const bool has_faults = !test.server_faults().empty();
  if (!system.Run()) return absl::DeadlineExceededError("it does not end");
  TestResult result;
  *result.mutable_service_logs() = system.Finish();
  *result.mutable_traffic_config() = std::move(test);
  absl::Status status;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    if (view.log.statistics().failed_count() > 0 && !has_faults) {
      status = absl::InternalError(absl::StrCat(view.rpc_name, " failed"));
    }
  });
  if (!status.ok()) return status;
  return result;
}

}  // namespace distbench
