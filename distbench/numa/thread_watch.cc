#include "distbench/numa/thread_watch.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace distbench {

void ThreadWatch::AddThreads(const std::set<int>& ids) {
  ids_.insert(ids.begin(), ids.end());
}

void ThreadWatch::Start() {
  threads_.clear();
  cpu_ns_by_cpu_.clear();
  allowed_.clear();
  for (const int id : ids_) {
    const std::optional<ThreadUsage> usage = ReadThreadUsage(root_, pid_, id);
    if (usage.has_value()) threads_[id] = {.start = *usage, .last = *usage};
  }
}

void ThreadWatch::Sample() {
  for (auto& [id, watched] : threads_) {
    const std::optional<ThreadUsage> now = ReadThreadUsage(root_, pid_, id);
    // Keeps the last values of a thread that has ended.
    if (!now.has_value()) continue;
    const int64_t added_ns = now->cpu_ns - watched.last.cpu_ns;
    if (added_ns > 0) cpu_ns_by_cpu_[now->last_cpu] += added_ns;
    allowed_[id].insert(now->allowed_cpus.begin(), now->allowed_cpus.end());
    watched.last = *now;
  }
}

void ThreadWatch::Report(BindingProof& proof) const {
  for (const auto& [cpu, cpu_ns] : cpu_ns_by_cpu_) {
    (*proof.mutable_cpu_time_ns_by_cpu())[cpu] = cpu_ns;
  }
  if (threads_.empty()) return;
  int64_t voluntary = 0;
  int64_t involuntary = 0;
  std::optional<int64_t> migrations = 0;
  for (const auto& [id, watched] : threads_) {
    const auto& [start, last] = watched;
    voluntary +=
        last.voluntary_context_switches - start.voluntary_context_switches;
    involuntary +=
        last.involuntary_context_switches - start.involuntary_context_switches;
    if (!start.cpu_migrations || !last.cpu_migrations) {
      migrations.reset();
    } else if (migrations) {
      *migrations += *last.cpu_migrations - *start.cpu_migrations;
    }
  }
  proof.set_voluntary_context_switches(voluntary);
  proof.set_involuntary_context_switches(involuntary);
  if (migrations) proof.set_cpu_migrations(*migrations);
}

std::vector<std::string> ThreadWatch::Violations(const IndexSet& cpus) const {
  std::vector<std::string> violations;
  IndexSet strange;
  int64_t strange_ns = 0;
  for (const auto& [cpu, cpu_ns] : cpu_ns_by_cpu_) {
    if (cpus.contains(cpu)) continue;
    strange.insert(cpu);
    strange_ns += cpu_ns;
  }
  if (!strange.empty()) {
    violations.push_back(absl::StrCat("its threads spent ", strange_ns / 1'000,
                                      " us on CPUs ", FormatIndexList(strange),
                                      ", outside of ", FormatIndexList(cpus)));
  }
  int free_count = 0;
  IndexSet free_on;
  for (const auto& [id, allowed] : allowed_) {
    const IndexSet others = Without(allowed, cpus);
    if (others.empty()) continue;
    ++free_count;
    free_on.insert(others.begin(), others.end());
  }
  if (free_count > 0) {
    violations.push_back(
        absl::StrCat(free_count, " of its threads could run on CPUs ",
                     FormatIndexList(free_on), " as well"));
  }
  return violations;
}

}  // namespace distbench
