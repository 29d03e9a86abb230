#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// A location in a message. It is turned into a Path only if there is a problem,
// which is rare, while locations are many.
struct Place {
  const Place* outer;  // null: the test
  const FieldDescriptor* field;
  int index;  // -1: the field is not repeated
};

Path PathOf(const Path& test, const Place* place) {
  if (place == nullptr) return test;
  const Path field = PathOf(test, place->outer).Field(place->field->name());
  return place->index < 0 ? field : field.At(place->index);
}

class EncodingCheck {
 public:
  explicit EncodingCheck(const TestValidation& validation)
      : validation_(validation) {}

  void CheckMessage(const Message& message, const Place* outer) const {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (!field->is_repeated()) {
        CheckValue(message, {outer, field, -1});
        continue;
      }
      const int size = message.GetReflection()->FieldSize(message, field);
      for (int i = 0; i < size; ++i) CheckValue(message, {outer, field, i});
    }
  }

 private:
  void CheckValue(const Message& message, const Place& place) const {
    const Reflection& reflection = *message.GetReflection();
    const FieldDescriptor* const field = place.field;
    const int index = place.index;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      CheckMessage(index < 0
                       ? reflection.GetMessage(message, field)
                       : reflection.GetRepeatedMessage(message, field, index),
                   &place);
    } else if (field->type() == FieldDescriptor::TYPE_STRING) {
      const std::string text =
          index < 0 ? reflection.GetString(message, field)
                    : reflection.GetRepeatedString(message, field, index);
      if (base::IsUtf8(text)) return;
      validation_.Add(PathOf(validation_.path(), &place),
                      "is not valid text; write it in UTF-8");
    }
  }

  const TestValidation& validation_;
};

bool IsLegible(const std::string& name) {
  return std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

bool IsServiceName(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

void CheckNames(const TestValidation& validation, absl::string_view field,
                const NameIndex& index) {
  const Path elements = validation.path().Field(field);
  for (int i = 0; i < index.names().size(); ++i) {
    const std::string& name = index.names()[i];
    const int first = index.Find(name);
    const Path path = elements.At(i).Field("name");
    if (name.empty()) {
      validation.Add(path, "is missing; give it a name");
    } else if (first != i) {
      validation.Add(path,
                     absl::StrCat(Quoted(name), " is the name of ", field, "[",
                                  first, "] as well; names must be unique"));
    } else if (name.size() > kMaxNameLength) {
      validation.Add(path, absl::StrCat("is longer than ", kMaxNameLength,
                                        " characters; shorten it"));
    } else if (!IsLegible(name)) {
      validation.Add(
          path,
          absl::StrCat(Quoted(name), " has control characters; remove them"));
    }
  }
}

}  // namespace

void ValidateEncoding(const TestValidation& validation) {
  EncodingCheck(validation).CheckMessage(validation.test(), nullptr);
}

void ValidateNames(const TestValidation& validation) {
  const TestNames& names = validation.names();
  CheckNames(validation, "services", names.services);
  CheckNames(validation, "payload_descriptions", names.payloads);
  CheckNames(validation, "rpc_descriptions", names.rpcs);
  CheckNames(validation, "actions", names.actions);
  CheckNames(validation, "action_lists", names.lists);
  CheckNames(validation, "protocol_driver_options", names.driver_options);
  CheckNames(validation, "activity_configs", names.activities);
  CheckNames(validation, "activity_pools", names.activity_pools);
  CheckNames(validation, "distribution_config", names.joint_distributions);
  CheckNames(validation, "delay_distribution_configs",
             names.delay_distributions);
  CheckNames(validation, "size_distribution_configs", names.size_distributions);
  CheckNames(validation, "rpc_replay_traces", names.replay_traces);
  CheckNames(validation, "server_faults", names.server_faults);

  const auto& services = names.services.names();
  for (int i = 0; i < services.size(); ++i) {
    // Other characters could be separators or wildcards in instance names and
    // globs.
    if (IsLegible(services[i]) && !IsServiceName(services[i])) {
      validation.Add(
          validation.path().Field("services").At(i).Field("name"),
          absl::StrCat(Quoted(services[i]),
                       " has characters that no service name may have; use "
                       "letters, digits, '_', '-' and '.'"));
    }
  }
}

}  // namespace distbench::config
