// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/thread_watch.h"

#include <unistd.h>

#include <fstream>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/base/time_units.h"

namespace distbench::numa {
namespace {

// Fields of /proc/PID/stat.
constexpr int kUserTicks = 14;
constexpr int kSystemTicks = 15;
constexpr int kProcessor = 39;

// Returns false if the file is missing or malformed.
bool ReadStat(const std::string& task, ThreadUsage& usage) {
  const std::vector<std::string> fields = base::ReadStatFields(task);
  int64_t user_ticks = 0;
  int64_t system_ticks = 0;
  if (fields.size() <= kProcessor ||
      !absl::SimpleAtoi(fields[kUserTicks], &user_ticks) ||
      !absl::SimpleAtoi(fields[kSystemTicks], &system_ticks) ||
      !absl::SimpleAtoi(fields[kProcessor], &usage.last_cpu)) {
    return false;
  }
  usage.cpu_ns =
      (user_ticks + system_ticks) * (base::kNsPerSecond / sysconf(_SC_CLK_TCK));
  return true;
}

// The first number of schedstat, if the kernel has it, is finer than ticks.
void ReadSchedstat(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/schedstat");
  int64_t cpu_ns = 0;
  if (file >> cpu_ns) usage.cpu_ns = cpu_ns;
}

void ReadStatus(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/status");
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "Cpus_allowed_list:")) {
      usage.allowed_cpus =
          base::ParseIndexList(rest).value_or(base::IndexSet{});
    } else if (absl::ConsumePrefix(&rest, "voluntary_ctxt_switches:")) {
      (void)absl::SimpleAtoi(rest, &usage.voluntary_context_switches);
    } else if (absl::ConsumePrefix(&rest, "nonvoluntary_ctxt_switches:")) {
      (void)absl::SimpleAtoi(rest, &usage.involuntary_context_switches);
    }
  }
}

// Reads lines such as "se.nr_migrations     :                    7".
void ReadSched(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/sched");
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, "se.nr_migrations")) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    int64_t count = 0;
    if (absl::ConsumePrefix(&rest, ":") && absl::SimpleAtoi(rest, &count)) {
      usage.cpu_migrations = count;
    }
    return;
  }
}

}  // namespace

std::set<int> ReadThreadIds(const std::string& root, pid_t pid) {
  std::set<int> ids;
  for (const std::string& name :
       base::NamesIn(base::ProcFolder(root, pid) + "/task")) {
    int id = 0;
    if (absl::SimpleAtoi(name, &id)) ids.insert(id);
  }
  return ids;
}

std::optional<ThreadUsage> ReadThreadUsage(const std::string& root, pid_t pid,
                                           int thread) {
  const std::string task =
      absl::StrCat(base::ProcFolder(root, pid), "/task/", thread);
  ThreadUsage usage;
  if (!ReadStat(task, usage)) return std::nullopt;
  ReadSchedstat(task, usage);
  ReadStatus(task, usage);
  ReadSched(task, usage);
  return usage;
}

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

std::vector<std::string> ThreadWatch::Violations(
    const base::IndexSet& cpus) const {
  std::vector<std::string> violations;
  base::IndexSet strange;
  int64_t strange_ns = 0;
  for (const auto& [cpu, cpu_ns] : cpu_ns_by_cpu_) {
    if (cpus.contains(cpu)) continue;
    strange.insert(cpu);
    strange_ns += cpu_ns;
  }
  if (!strange.empty()) {
    violations.push_back(
        absl::StrCat("its threads spent ", strange_ns / 1'000, " us on CPUs ",
                     base::FormatIndexList(strange), ", outside of ",
                     base::FormatIndexList(cpus)));
  }
  int free_count = 0;
  base::IndexSet free_on;
  for (const auto& [id, allowed] : allowed_) {
    const base::IndexSet others = base::Without(allowed, cpus);
    if (others.empty()) continue;
    ++free_count;
    free_on.insert(others.begin(), others.end());
  }
  if (free_count > 0) {
    violations.push_back(
        absl::StrCat(free_count, " of its threads could run on CPUs ",
                     base::FormatIndexList(free_on), " as well"));
  }
  return violations;
}

}  // namespace distbench::numa
