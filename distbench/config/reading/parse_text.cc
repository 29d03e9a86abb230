#include "distbench/config/reading/parse_text.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/message_places.h"
#include "distbench/config/reading/placed_errors.h"
#include "distbench/config/reading/text_places.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::DescriptorPool;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::google::protobuf::TextFormat;

// Deeper than any config, and shallow enough for any stack.
constexpr int kMaxNesting = 50;

// Suggests a field when the parser's message is 'Message type "T" has no field
// named "f"'. Empty for other messages.
std::string SuggestionAfter(absl::string_view message) {
  const std::vector<std::string> parts = absl::StrSplit(message, '"');
  if (parts.size() != 5) return "";
  const Descriptor* type =
      DescriptorPool::generated_pool()->FindMessageTypeByName(parts[1]);
  return type == nullptr ? "" : FieldSuggestion(*type, parts[3]);
}

// Says how to write text when the parser found something else.
absl::string_view QuotesHint(absl::string_view message) {
  return absl::StartsWith(message, "Expected string") ? "; put it in quotes"
                                                      : "";
}

// Receives the errors of protobuf's parser.
class ErrorList : public google::protobuf::io::ErrorCollector {
 public:
  ErrorList(absl::string_view source, absl::string_view text)
      : errors_(source, text), token_places_(text) {}

  // At a token of protobuf's tokenizer.
  void AddError(int line, int column, const std::string& message) override {
    if (errors_.full()) return;
    Add(token_places_.Of(line, column),
        absl::StrCat(message, SuggestionAfter(message), QuotesHint(message)));
  }

  // Treats everything that the parser would skip, such as an unknown field, as
  // an error.
  void AddWarning(int line, int column, const std::string& message) override {
    AddError(line, column, message);
  }

  void Add(Place place, std::string message) {
    errors_.Add(place, std::move(message));
  }

  bool empty() const { return errors_.empty(); }
  absl::Status ToStatus() const { return errors_.ToStatus(); }

 private:
  PlacedErrors errors_;
  TokenPlaces token_places_;
};

// The start of a block: its line, and the indentation of that line, both from
// 0.
struct Block {
  int line;
  int column;
  int indentation;
};

// Finds the block that lacks its end. If a block's end is indented unlike its
// beginning, it is probably the end of the enclosing block, and this block's
// end is missing; otherwise it is the innermost open block. Absent if all
// blocks are closed.
std::optional<Block> FindUnclosed(absl::string_view text) {
  google::protobuf::io::ArrayInputStream stream(text.data(), text.size());
  IgnoreErrors errors;
  google::protobuf::io::Tokenizer tokenizer(&stream, &errors);
  tokenizer.set_comment_style(
      google::protobuf::io::Tokenizer::SH_COMMENT_STYLE);
  std::vector<Block> open;
  std::optional<Block> misaligned;
  int line = -1;
  int indentation = 0;
  while (tokenizer.Next()) {
    const auto& token = tokenizer.current();
    if (token.line != line) {
      line = token.line;
      indentation = token.column;
    }
    if (token.text == "{") {
      open.push_back({token.line, token.column, indentation});
    } else if (token.text == "}" && !open.empty()) {
      const Block& block = open.back();
      const bool begins_line = token.column == indentation;
      if (begins_line && block.indentation != indentation && !misaligned) {
        misaligned = block;
      }
      open.pop_back();
    }
  }
  if (open.empty()) return std::nullopt;
  return misaligned ? misaligned : open.back();
}

// An entry of a map whose key another entry has as well.
struct RepeatedKey {
  const Message* owner;
  const FieldDescriptor* field;
  int index;
  std::string key;
};

// Must run on a freshly parsed message, because only there are map entries
// still as written.
void FindRepeatedKeysOf(const Message& message, const FieldDescriptor* field,
                        std::vector<RepeatedKey>& repeated) {
  const FieldDescriptor* key_field = field->message_type()->map_key();
  if (key_field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return;
  const Reflection* reflection = message.GetReflection();
  std::set<std::string> keys;
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    const Message& entry = reflection->GetRepeatedMessage(message, field, i);
    const std::string key = entry.GetReflection()->GetString(entry, key_field);
    if (keys.insert(key).second) continue;
    repeated.push_back({&message, field, i, key});
  }
}

void FindRepeatedKeys(const Message& message,
                      std::vector<RepeatedKey>& repeated) {
  const Reflection* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (field->is_map()) {
      FindRepeatedKeysOf(message, field, repeated);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        FindRepeatedKeys(reflection->GetRepeatedMessage(message, field, i),
                         repeated);
      }
    } else {
      FindRepeatedKeys(reflection->GetMessage(message, field), repeated);
    }
  }
}

// Of the type, or of one within it.
bool HasRemovedFields(const Descriptor* type,
                      std::set<const Descriptor*>& seen) {
  if (type == nullptr || !seen.insert(type).second) return false;
  if (type->reserved_name_count() > 0) return true;
  for (int i = 0; i < type->field_count(); ++i) {
    if (HasRemovedFields(type->field(i)->message_type(), seen)) return true;
  }
  return false;
}

// The parser skips them, so that results of old versions can be read. In what
// users write, they would have no effect.
void RefuseRemovedFields(absl::string_view text, const Message& message,
                         ErrorList& errors) {
  std::set<const Descriptor*> seen;
  if (!HasRemovedFields(message.GetDescriptor(), seen)) return;
  const std::optional<RemovedField> found = FindRemovedField(text, message);
  if (!found.has_value()) return;
  errors.Add(found->place,
             absl::StrCat("Message type \"", found->type->full_name(),
                          "\" has no field named ", Quoted(found->name), ".",
                          FieldSuggestion(*found->type, found->name)));
}

void RefuseRepeatedKeys(absl::string_view text, const Message& message,
                        ErrorList& errors) {
  std::vector<RepeatedKey> repeated;
  FindRepeatedKeys(message, repeated);
  if (repeated.empty()) return;
  MessagePlaces places;
  AddTextPlaces(text, message, places);
  for (const RepeatedKey& each : repeated) {
    const Place* place = places.At(*each.owner, *each.field, each.index);
    errors.Add(place == nullptr ? Place{} : *place,
               absl::StrCat("The key ", Quoted(each.key), " of ",
                            each.field->name(), " is given more than once."));
  }
}

}  // namespace

absl::Status ParseText(absl::string_view text, absl::string_view source,
                       Message& message, MessagePlaces* places) {
  ErrorList errors(source, text);
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(kMaxNesting);
  // Continues after an unknown field, to find other errors.
  parser.AllowUnknownField(true);
  google::protobuf::io::ArrayInputStream stream(text.data(), text.size());
  if (!parser.Parse(&stream, &message)) {
    if (const std::optional<Block> block = FindUnclosed(text)) {
      errors.AddError(block->line, block->column,
                      "This block is not closed; add a \"}\".");
    } else if (errors.empty()) {
      errors.AddError(0, 0, "This is not the text of a config.");
    }
  }
  if (errors.empty()) RefuseRemovedFields(text, message, errors);
  if (errors.empty()) RefuseRepeatedKeys(text, message, errors);
  if (errors.empty() && places != nullptr) {
    AddTextPlaces(text, message, *places);
  }
  return errors.ToStatus();
}

}  // namespace distbench::config
