#include "distbench/results/legacy_results.h"

#include <iterator>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::results {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kFirstExtension = 1000;

bool IsSilent(const ServicePerformanceLog& log) {
  return log.peer_logs().empty() && log.activity_logs().empty() &&
         log.replay_trace_logs().empty() && !log.has_engine_error_message();
}

void DropOwnFields(Message& message) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->number() >= kFirstExtension) {
      reflection.ClearField(&message, field);
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        DropOwnFields(*reflection.MutableRepeatedMessage(&message, field, i));
      }
    } else {
      DropOwnFields(*reflection.MutableMessage(&message, field));
    }
  }
}

}  // namespace

void DropSilentInstances(ServiceLogs& logs) {
  auto& instances = *logs.mutable_instance_logs();
  for (auto log = instances.begin(); log != instances.end();) {
    log = IsSilent(log->second) ? instances.erase(log) : std::next(log);
  }
}

void DropExtensions(TestSequenceResults& results) {
  for (TestResult& result : *results.mutable_test_results()) {
    if (!result.has_service_logs()) continue;
    DropSilentInstances(*result.mutable_service_logs());
  }
  DropOwnFields(results);
}

}  // namespace distbench::results
