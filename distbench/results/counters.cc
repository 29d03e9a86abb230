#include "distbench/results/counters.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"

namespace distbench::results {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<const FieldDescriptor*> CountersIn(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

}  // namespace

void AddCounters(const Message& from, Message& into) {
  const google::protobuf::Reflection& reflection = *into.GetReflection();
  for (const FieldDescriptor* field : CountersIn(from)) {
    reflection.SetInt64(&into, field,
                        base::SaturatingAdd(reflection.GetInt64(into, field),
                                            reflection.GetInt64(from, field)));
  }
}

void AppendUse(const GroupUse& later, GroupUse& sum) {
  GroupUse counters = later;
  counters.clear_memory_bytes();
  counters.clear_swap_bytes();
  AddCounters(counters, sum);
  if (later.has_memory_bytes()) sum.set_memory_bytes(later.memory_bytes());
  if (later.has_swap_bytes()) sum.set_swap_bytes(later.swap_bytes());
}

void SubtractCounters(const Message& start, Message& into) {
  const google::protobuf::Reflection& reflection = *into.GetReflection();
  for (const FieldDescriptor* field : CountersIn(into)) {
    if (!reflection.HasField(start, field)) {
      reflection.ClearField(&into, field);
      continue;
    }
    const int64_t counted = base::SaturatingSubtract(
        reflection.GetInt64(into, field), reflection.GetInt64(start, field));
    reflection.SetInt64(&into, field, std::max<int64_t>(counted, 0));
  }
}

std::vector<std::pair<std::string, std::optional<int64_t>>> ListCounters(
    const HostCounters& counters) {
  const google::protobuf::Descriptor& descriptor = *HostCounters::descriptor();
  const google::protobuf::Reflection& reflection =
      *HostCounters::GetReflection();
  std::vector<std::pair<std::string, std::optional<int64_t>>> list;
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor* field = descriptor.field(i);
    list.emplace_back(field->name(), std::nullopt);
    if (reflection.HasField(counters, field)) {
      list.back().second = reflection.GetInt64(counters, field);
    }
  }
  return list;
}

int64_t BusyCpuNs(const HostCounters& counters) {
  return counters.user_cpu_ns() + counters.system_cpu_ns() +
         counters.irq_cpu_ns() + counters.softirq_cpu_ns();
}

}  // namespace distbench::results
