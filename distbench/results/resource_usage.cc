#include "distbench/results/resource_usage.h"

#include <sys/resource.h>
#include <sys/time.h>

namespace distbench::results {
namespace {

double Seconds(const timeval& time) {
  return time.tv_sec + time.tv_usec * 1e-6;
}

// sum += sign * usage, for all fields that are counts.
void Add(const RUsage& usage, int sign, RUsage& sum) {
  const google::protobuf::Descriptor& descriptor = *RUsage::descriptor();
  const google::protobuf::Reflection& reflection = *RUsage::GetReflection();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor.field(i);
    if (field->number() == RUsage::kMaxResidentSetSizeFieldNumber) continue;
    if (field->cpp_type() ==
        google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) {
      reflection.SetDouble(&sum, field,
                           reflection.GetDouble(sum, field) +
                               sign * reflection.GetDouble(usage, field));
    } else {
      reflection.SetInt64(&sum, field,
                          reflection.GetInt64(sum, field) +
                              sign * reflection.GetInt64(usage, field));
    }
  }
}

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

void AddUsage(const RUsage& usage, RUsage& sum) {
  Add(usage, 1, sum);
  sum.set_max_resident_set_size(sum.max_resident_set_size() +
                                usage.max_resident_set_size());
}

RUsageStats UsageBetween(const RUsage& start, const RUsage& end) {
  RUsageStats stats;
  *stats.mutable_rusage_start() = start;
  RUsage& diff = *stats.mutable_rusage_diff();
  diff = end;
  Add(start, -1, diff);
  return stats;
}

}  // namespace distbench::results
