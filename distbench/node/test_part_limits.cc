// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a node's part of a test needs of its host, and what it uses: threads,
// files, ports and memory.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/threads.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/host_lacks.h"
#include "distbench/node/host_limits.h"
#include "distbench/node/proc_files.h"
#include "distbench/node/test_part.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"

namespace distbench::node {

HostFacts TestPart::ReadFacts() const {
  HostFacts facts = ReadHostFacts(environment_.system_root);
  facts.MergeFrom(environment_.lasting_facts);
  return facts;
}

// Requirements that are not strict are judged by the result.
absl::Status TestPart::CheckRequirements() const {
  const HostRequirements& requirements = test().requirements();
  if (requirements.facts().empty() || !requirements.strict()) return {};
  return node::CheckRequirements(requirements, ReadFacts());
}

// A process that runs out of files or threads while it makes an instance may be
// aborted.
absl::Status TestPart::CheckRoom(const config::InstancePlan& plan,
                                 int instance) const {
  const std::string& root = environment_.system_root;
  const hosting::EngineLimits limits = environment_.engines.limits();
  const int workers = WorkerCount(plan);
  SocketLimits files = ReadSocketLimits(root);
  if (limits.max_files > 0) files.max_open_files = limits.max_files;
  const ThreadNeeds threads = CountThreads(*plan_, instance, workers);
  absl::Status status = CheckWorkerFiles(DriverOf(plan), workers, files);
  if (status.ok()) status = CheckThreadCount(threads.total());
  if (status.ok() && !environment_.engines.disturbs_engines()) {
    status =
        CheckThreads(threads, base::ReadThreadRoom(root), limits.max_threads);
  }
  return status;
}

// Files are limited per process, ports for all processes together.
absl::Status TestPart::CheckNeededSockets() const {
  std::vector<ConnectingInstance> all;
  std::map<pid_t, std::vector<ConnectingInstance>> by_process;
  for (const auto& [plan, engine] : instances_) {
    ConnectingInstance instance{.driver = &DriverOf(*plan),
                                .worker_count = WorkerCount(*plan)};
    for (const int peer : engine->peers()) {
      instance.peers.push_back(plan_->instances[peer].name);
    }
    all.push_back(instance);
    by_process[engine->pid()].push_back(std::move(instance));
  }
  const std::string& root = environment_.system_root;
  absl::Status status;
  for (const auto& [pid, instances] : by_process) {
    status.Update(
        CheckSockets(CountSockets(instances), ReadSocketLimits(root, pid)));
  }
  SocketLimits of_host = ReadSocketLimits(root);
  of_host.max_open_files = 0;
  status.Update(CheckSockets(CountSockets(all), of_host));
  return status;
}

// Only threads that the test starts count: how many the libraries start depends
// on the host. All threads of the processes are counted first, which is
// cheaper.
absl::Status TestPart::CheckThreadCount(int64_t more) const {
  const auto count_with = [this](int64_t (*count_of)(pid_t)) {
    int64_t count = count_of(hosting::kThisProcess);
    for (const auto& [pid, instances] : Processes()) count += count_of(pid);
    return count;
  };
  if (count_with(&base::ProcessThreadCount) + more <= plan_->max_threads)
    return {};
  const int64_t count = count_with(&base::TestThreadCount);
  if (count + more <= plan_->max_threads) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too many threads running: ", count, " of the test",
      more > 0 ? absl::StrCat(" before ", more, " more are started") : "",
      ", but its overload_limits.max_threads is ", plan_->max_threads,
      "; raise it, let the test have fewer workers_per_instance, or place "
      "fewer instances on the node"));
}

absl::Status TestPart::CheckEngineThreads() const {
  const int64_t max_threads = environment_.engines.limits().max_threads;
  if (max_threads == 0) return absl::OkStatus();
  for (const auto& [pid, instances] : Processes()) {
    const absl::Status status =
        CheckThreadsOfEngine(base::ProcessThreadCount(pid), max_threads);
    if (!status.ok()) return Annotate(instances[0], status);
  }
  return absl::OkStatus();
}

void TestPart::StopIfOverloaded() {
  absl::Status status = CheckThreadCount();
  if (status.ok()) status = CheckEngineThreads();
  if (status.ok()) status = memory_limit_->Check(Processes());
  if (!status.ok()) Interrupt(status);
}

EngineProcesses TestPart::Processes() const {
  EngineProcesses processes;
  for (const auto& [plan, engine] : instances_) {
    const pid_t pid = engine->pid();
    if (pid != hosting::kThisProcess) processes[pid].push_back(plan->name);
  }
  return processes;
}

RUsage TestPart::Usage() {
  RUsage sum = results::ProcessUsage();
  for (const auto& [pid, instances] : Processes()) {
    RUsage usage = ReadUsage(environment_.system_root, pid);
    RUsage& last = engine_usages_[pid];
    if (usage.has_user_cpu_time_seconds()) last = std::move(usage);
    results::AddCounters(last, sum);
  }
  return sum;
}

}  // namespace distbench::node
