// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/resource_usage.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>

#include "distbench/results/message_sums.h"

namespace distbench::results {
namespace {

double Seconds(const timeval& time) {
  return time.tv_sec + time.tv_usec * 1e-6;
}

constexpr int kUsageLevels[] = {RUsage::kMaxResidentSetSizeFieldNumber};
constexpr int kGroupLevels[] = {GroupUse::kMemoryBytesFieldNumber,
                                GroupUse::kSwapBytesFieldNumber};

}  // namespace

RUsage ProcessUsage() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  RUsage proto;
  proto.set_user_cpu_time_seconds(Seconds(usage.ru_utime));
  proto.set_system_cpu_time_seconds(Seconds(usage.ru_stime));
  proto.set_max_resident_set_size(usage.ru_maxrss);
  proto.set_integral_shared_memory_size(usage.ru_ixrss);
  proto.set_integral_unshared_data_size(usage.ru_idrss);
  proto.set_integral_unshared_stack_size(usage.ru_isrss);
  proto.set_page_reclaims_soft_page_faults(usage.ru_minflt);
  proto.set_page_faults_hard_page_faults(usage.ru_majflt);
  proto.set_swaps(usage.ru_nswap);
  proto.set_block_input_operations(usage.ru_inblock);
  proto.set_block_output_operations(usage.ru_oublock);
  proto.set_ipc_messages_sent(usage.ru_msgsnd);
  proto.set_ipc_messages_received(usage.ru_msgrcv);
  proto.set_signals_received(usage.ru_nsignals);
  proto.set_voluntary_context_switches(usage.ru_nvcsw);
  proto.set_involuntary_context_switches(usage.ru_nivcsw);
  return proto;
}

RUsageStats UsageBetween(const RUsage& start, const RUsage& end) {
  RUsageStats stats;
  *stats.mutable_rusage_start() = start;
  *stats.mutable_rusage_diff() = end;
  SubtractCounters(start, *stats.mutable_rusage_diff(), kUsageLevels,
                   WithoutStart::kCountedFromZero);
  return stats;
}

GroupUse UseBetween(const GroupUse& earlier, const GroupUse& later) {
  GroupUse use = later;
  SubtractCounters(earlier, use, kGroupLevels, WithoutStart::kCountedFromZero);
  return use;
}

void AppendUse(const GroupUse& later, GroupUse& sum) {
  AddCounters(later, sum, kGroupLevels);
}

int CpuCountOf(const HostFacts& host) {
  return std::max({host.online_cpu_count(), host.cpu_count(), 0});
}

int64_t BusyCpuNs(const HostCounters& counters) {
  return counters.user_cpu_ns() + counters.system_cpu_ns() +
         counters.irq_cpu_ns() + counters.softirq_cpu_ns();
}

}  // namespace distbench::results
