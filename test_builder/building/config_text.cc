#include "test_builder/building/config_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/text_format.h"

namespace distbench::test_builder {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kIndent = 2;
constexpr size_t kLineWidth = 80;

// Prints messages field by field. Messages that fit are printed on one line.
class Writer {
 public:
  Writer() {
    single_line_.SetSingleLineMode(true);
    single_line_.SetUseUtf8StringEscaping(true);
  }

  // Prints "name { contents }" on one line if it fits, or if it maps a name to
  // a plain value, because a column of those is easier to read.
  void WriteMessage(const std::string& name, const Message& message,
                    int indent) {
    const std::string margin(indent, ' ');
    const std::string line =
        absl::StrCat(margin, name, " { ", OneLine(message), "}");
    if (line.size() <= kLineWidth || IsPlainMapEntry(message)) {
      absl::StrAppend(&text_, line, Comment(message), "\n");
      return;
    }
    absl::StrAppend(&text_, margin, name, " {\n");
    WriteFields(message, indent + kIndent);
    absl::StrAppend(&text_, margin, "}\n");
  }

  void WriteFields(const Message& message, int indent) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      WriteField(message, *field, indent);
    }
  }

  void WriteField(const Message& message, const FieldDescriptor& field,
                  int indent) {
    const Reflection& reflection = *message.GetReflection();
    if (field.is_map()) {
      WriteMap(message, field, indent);
    } else if (!field.is_repeated()) {
      WriteValue(message, field, -1, indent);
    } else {
      for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
        WriteValue(message, field, i, indent);
      }
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  static bool IsPlainMapEntry(const Message& message) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    return type.options().map_entry() &&
           type.map_value()->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
  }

  static absl::string_view Comment(const Message& message) {
    const bool answers_at_once =
        message.GetDescriptor() == ActionList::descriptor() &&
        static_cast<const ActionList&>(message).action_names().empty();
    return answers_at_once ? "  # no actions: answered at once" : "";
  }

  std::string OneLine(const Message& message) const {
    std::string line;
    single_line_.PrintToString(message, &line);
    return line;
  }

  // index: -1 if the field is not repeated.
  void WriteValue(const Message& message, const FieldDescriptor& field,
                  int index, int indent) {
    const Reflection& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      WriteMessage(field.name(),
                   index < 0
                       ? reflection.GetMessage(message, &field)
                       : reflection.GetRepeatedMessage(message, &field, index),
                   indent);
      return;
    }
    std::string value;
    single_line_.PrintFieldValueToString(message, &field, index, &value);
    absl::StrAppend(&text_, std::string(indent, ' '), field.name(), ": ", value,
                    "\n");
  }

  // Maps are unordered, so entries are sorted by key.
  void WriteMap(const Message& message, const FieldDescriptor& field,
                int indent) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const Message*> entries;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      entries.push_back(&reflection.GetRepeatedMessage(message, &field, i));
    }
    const FieldDescriptor* key = field.message_type()->map_key();
    std::sort(entries.begin(), entries.end(),
              [key](const Message* a, const Message* b) {
                return a->GetReflection()->GetString(*a, key) <
                       b->GetReflection()->GetString(*b, key);
              });
    for (const Message* entry : entries) {
      WriteMessage(field.name(), *entry, indent);
    }
  }

  google::protobuf::TextFormat::Printer single_line_;
  std::string text_;
};

// Fields that readers look for first, in order; other fields follow.
constexpr int kFirstFields[] = {
    DistributedSystemDescription::kNameFieldNumber,
    DistributedSystemDescription::kAttributesFieldNumber,
    DistributedSystemDescription::kDefaultProtocolFieldNumber,
    DistributedSystemDescription::kProtocolDriverOptionsFieldNumber,
    DistributedSystemDescription::kServicesFieldNumber,
    DistributedSystemDescription::kRpcDescriptionsFieldNumber,
    DistributedSystemDescription::kPayloadDescriptionsFieldNumber,
    DistributedSystemDescription::kActionListsFieldNumber,
    DistributedSystemDescription::kActionsFieldNumber,
};

int Rank(const FieldDescriptor* field) {
  const auto* first = std::find(std::begin(kFirstFields),
                                std::end(kFirstFields), field->number());
  return first == std::end(kFirstFields)
             ? static_cast<int>(std::size(kFirstFields)) + field->number()
             : static_cast<int>(first - std::begin(kFirstFields));
}

bool IsShellSafe(unsigned char c) {
  return absl::ascii_isalnum(c) ||
         absl::StrContains("_-+=:,./@%", std::string(1, c));
}

std::string ShellQuoted(const std::string& argument) {
  if (!argument.empty() &&
      std::all_of(argument.begin(), argument.end(), IsShellSafe)) {
    return argument;
  }
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      // A line end would end the comment.
      quoted += c == '\n' ? ' ' : c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string ProducedBy(absl::Span<const std::string> arguments) {
  return absl::StrCat("# produced by test_builder ",
                      absl::StrJoin(arguments, " ",
                                    [](std::string* out, const std::string& s) {
                                      absl::StrAppend(out, ShellQuoted(s));
                                    }),
                      "\n");
}

std::string ConfigText(absl::Span<const DistributedSystemDescription> tests) {
  std::string text;
  for (const DistributedSystemDescription& test : tests) {
    std::vector<const FieldDescriptor*> fields;
    test.GetReflection()->ListFields(test, &fields);
    std::stable_sort(fields.begin(), fields.end(),
                     [](const FieldDescriptor* a, const FieldDescriptor* b) {
                       return Rank(a) < Rank(b);
                     });
    Writer writer;
    for (const FieldDescriptor* field : fields) {
      writer.WriteField(test, *field, kIndent);
    }
    absl::StrAppend(&text, "tests {\n", writer.Take(), "}\n");
  }
  return text;
}

}  // namespace distbench::test_builder
