// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/parse.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/places.h"
#include "distbench/config/reading/suggestions.h"
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
using ::google::protobuf::io::Tokenizer;

// Deeper than any config, and shallow enough for any stack.
constexpr int kMaxNesting = 50;

constexpr int kTabWidth = 8;  // of the tokenizer

// ---- Errors of protobuf's parser --------------------------------------------

// Converts places of protobuf's tokenizer, to which a tab goes to the next
// multiple of kTabWidth. Fast if they are asked for in the order of the text,
// which must outlive this.
class TokenPlaces {
 public:
  explicit TokenPlaces(absl::string_view text) : text_(text) {}

  Place Of(int line, int column) {
    AdvanceTo(line);
    if (column < token_column_) {
      token_column_ = 0;
      column_ = 0;
    }
    while (token_column_ < column && line_begin_ + column_ < text_.size()) {
      const bool is_tab = text_[line_begin_ + column_] == '\t';
      token_column_ += is_tab ? kTabWidth - token_column_ % kTabWidth : 1;
      ++column_;
    }
    return {line_, column_};
  }

 private:
  void AdvanceTo(int line) {
    if (line == line_) return;
    if (line < line_) {
      line_ = 0;
      line_begin_ = 0;
    }
    token_column_ = 0;
    column_ = 0;
    while (line_ < line) {
      const size_t line_end = text_.find('\n', line_begin_);
      if (line_end == absl::string_view::npos) break;
      line_begin_ = line_end + 1;
      ++line_;
    }
  }

  const absl::string_view text_;
  // The last place asked for: its line, where this line begins in the text, and
  // its column as the tokenizer and as Place count it.
  int line_ = 0;
  size_t line_begin_ = 0;
  int token_column_ = 0;
  int column_ = 0;
};

// What to do about an error of protobuf's parser whose message begins so.
absl::string_view RemedyOf(absl::string_view message) {
  struct Remedy {
    const char* error;
    const char* remedy;
  };
  static constexpr Remedy kRemedies[] = {
      {"Expected string", "; put it in quotes"},
      {"Expected integer, got: \"", "; write it without quotes"},
      {"Expected integer, got: '", "; write it without quotes"},
      {"Expected double, got: \"", "; write it without quotes"},
      {"Expected double, got: '", "; write it without quotes"},
      {"Integer out of range",
       "; docs/traffic_reference.md has the ranges of fields"},
      {"Need space between number and identifier",
       " A quantity with its unit is a text: put it in quotes."},
      {"Interpreting non ascii",
       " Only texts in quotes and comments may have such characters, which "
       "typographic quotes and some spaces are, too."},
      {"Invalid value for boolean field", " It must be true or false."},
      {"Expected identifier, got: /", "; comments begin with #"},
      {"Expected identifier, got: \"",
       "; names of fields have no quotes in text format"},
      {"Expected identifier, got: '",
       "; names of fields have no quotes in text format"},
      {"Expected identifier, got: }", "; this bracket closes nothing"},
      {"Expected \":\", found", " Such a field is written as NAME: VALUE."},
      {"Expected \"{\", found", " Such a field is written as NAME { ... }."},
  };
  for (const Remedy& each : kRemedies) {
    if (absl::StartsWith(message, each.error)) return each.remedy;
  }
  return "";
}

// An error of protobuf's parser, which reads a message of the type, with what
// to do about it.
std::string WithRemedy(absl::string_view message, const Descriptor& outermost) {
  const std::vector<std::string> parts = absl::StrSplit(message, '"');
  if (parts.size() == 5 && absl::EndsWith(parts[2], " no field named ")) {
    const Descriptor* const type =
        DescriptorPool::generated_pool()->FindMessageTypeByName(parts[1]);
    return absl::StrCat(
        message, type == nullptr ? "" : FieldSuggestion(*type, parts[3]));
  }
  if (parts.size() == 5 && absl::StartsWith(message, "Unknown enumeration")) {
    const std::string right = WordSuggestion(outermost, parts[3], parts[1]);
    if (right.empty()) return std::string(message);
    return absl::StrCat(absl::StripSuffix(message, "."), "; ", right);
  }
  // Protobuf names the next token, and there is none at the end.
  const bool is_at_end = absl::EndsWith(message, "got: ");
  return absl::StrCat(message, is_at_end ? "the end of the text" : "",
                      RemedyOf(message));
}

// Receives the errors of protobuf's parser.
class ErrorList : public google::protobuf::io::ErrorCollector {
 public:
  // What is read is a message of the type.
  ErrorList(absl::string_view source, absl::string_view text,
            const Descriptor& type)
      : errors_(source, text), token_places_(text), type_(type) {}

  // At a token of protobuf's tokenizer.
  void AddError(int line, int column, const std::string& message) override {
    if (errors_.full()) return;
    // To the tokenizer, each byte of a character beyond ASCII is a token.
    Add(token_places_.Of(line, column),
        WithRemedy(base::IsUtf8(message) ? message : absl::CHexEscape(message),
                   type_));
  }

  // Treats everything that the parser would skip, such as an unknown field, as
  // an error.
  void AddWarning(int line, int column, const std::string& message) override {
    AddError(line, column, message);
  }

  template <typename... Parts>
  void Add(Place place, const Parts&... message) {
    errors_.Add(place, message...);
  }

  bool empty() const { return errors_.empty(); }
  absl::Status ToStatus() const { return errors_.ToStatus(); }

 private:
  PlacedErrors errors_;
  TokenPlaces token_places_;
  const Descriptor& type_;
};

// ---- The tokens of a text ---------------------------------------------------

// As protobuf's parser sees them, whose errors have been told.
class Tokens : private google::protobuf::io::ErrorCollector {
 public:
  explicit Tokens(absl::string_view text)
      : stream_(text.data(), static_cast<int>(text.size())),
        tokenizer_(&stream_, this) {
    tokenizer_.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokenizer_.set_allow_f_after_float(true);
  }

  Tokenizer* operator->() { return &tokenizer_; }

 private:
  void AddError(int, int, const std::string&) override {}

  google::protobuf::io::ArrayInputStream stream_;
  Tokenizer tokenizer_;
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
  Tokens tokens(text);
  std::vector<Block> open;
  std::optional<Block> misaligned;
  int line = -1;
  int indentation = 0;
  while (tokens->Next()) {
    const auto& token = tokens->current();
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

// A field that a text gives, and that its type had once.
struct RemovedField {
  Place place;
  const Descriptor* type;
  std::string name;
};

// Goes through a text and the message that protobuf has just made of it,
// without an error or an unknown field. Protobuf's own list of places is not
// enough: it has a single place for all elements of a list in brackets.
class TextWalk {
 public:
  explicit TextWalk(absl::string_view text)
      : token_places_(text), tokens_(text) {
    tokens_->Next();
  }

  // Up to the end of the message or of the text.
  void WalkFields(const Message& message) {
    while (!IsAtEnd() && !IsAt("}") && !IsAt(">")) WalkField(message);
  }

  // Of all parts of the message.
  MessagePlaces& places() { return places_; }

  // The first one in the text, which ends the walk: protobuf's parser skips
  // these.
  const std::optional<RemovedField>& removed() const { return removed_; }

 private:
  bool IsAtEnd() { return tokens_->current().type == Tokenizer::TYPE_END; }
  bool IsAt(absl::string_view symbol) {
    return tokens_->current().text == symbol;
  }
  bool Consume(absl::string_view symbol) {
    if (!IsAt(symbol)) return false;
    tokens_->Next();
    return true;
  }

  // All that follows has no place, rather than a wrong one.
  void GiveUp() {
    while (tokens_->Next()) {
    }
  }

  Place Here() {
    return token_places_.Of(tokens_->current().line, tokens_->current().column);
  }

  void WalkField(const Message& message) {
    const Place place = Here();
    const Descriptor* const type = message.GetDescriptor();
    const std::string name = tokens_->current().text;
    const FieldDescriptor* const field = type->FindFieldByName(name);
    if (field == nullptr) {
      if (type->IsReservedName(name)) removed_ = {place, type, name};
      return GiveUp();
    }
    tokens_->Next();
    places_.Add(message, *field, MessagePlaces::kField, place);
    Consume(":");
    if (Consume("[")) {
      while (!IsAtEnd() && !Consume("]")) {
        WalkValue(message, *field, Here());
        Consume(",");
      }
    } else {
      WalkValue(message, *field, place);
    }
    if (!Consume(",")) Consume(";");
  }

  void WalkValue(const Message& message, const FieldDescriptor& field,
                 Place place) {
    int index = MessagePlaces::kField;
    const Reflection& reflection = *message.GetReflection();
    if (field.is_repeated()) {
      index = counts_[{&message, &field}]++;
      if (index >= reflection.FieldSize(message, &field)) return GiveUp();
      places_.Add(message, field, index, place);
    }
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return SkipScalar();
    }
    tokens_->Next();  // the bracket
    WalkFields(field.is_repeated()
                   ? reflection.GetRepeatedMessage(message, &field, index)
                   : reflection.GetMessage(message, &field));
    tokens_->Next();
  }

  void SkipScalar() {
    Consume("-");
    const bool is_text = tokens_->current().type == Tokenizer::TYPE_STRING;
    tokens_->Next();
    // A text may be in pieces.
    while (is_text && tokens_->current().type == Tokenizer::TYPE_STRING) {
      tokens_->Next();
    }
  }

  TokenPlaces token_places_;
  Tokens tokens_;
  MessagePlaces places_;
  std::optional<RemovedField> removed_;
  // How many elements of a list have been seen.
  absl::flat_hash_map<std::pair<const Message*, const FieldDescriptor*>, int>
      counts_;
};

// ---- What protobuf's parser lets pass ---------------------------------------

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

// Repeated keys, of which the last would win; and removed fields, which the
// parser skips so that results of old versions can be read: in what users
// write, they would have no effect. Also finds the places, if they are asked
// for; nothing else takes a walk in most texts.
void RefuseIgnoredParts(absl::string_view text, const Message& message,
                        ErrorList& errors, MessagePlaces* places) {
  std::vector<RepeatedKey> repeated;
  FindRepeatedKeys(message, repeated);
  std::set<const Descriptor*> seen;
  if (places == nullptr && repeated.empty() &&
      !HasRemovedFields(message.GetDescriptor(), seen)) {
    return;
  }
  TextWalk walk(text);
  walk.WalkFields(message);
  if (const std::optional<RemovedField>& found = walk.removed()) {
    errors.Add(found->place, "Message type \"", found->type->full_name(),
               "\" has no field named ", Quoted(found->name), ".",
               FieldSuggestion(*found->type, found->name));
    return;
  }
  for (const RepeatedKey& each : repeated) {
    const Place* place = walk.places().At(*each.owner, *each.field, each.index);
    errors.Add(place == nullptr ? Place{} : *place, "The key ",
               Quoted(each.key), " of ", each.field->name(),
               " is given more than once.");
  }
  if (places != nullptr) *places = std::move(walk.places());
}

}  // namespace

absl::Status ParseText(absl::string_view text, absl::string_view source,
                       Message& message, MessagePlaces* places) {
  ErrorList errors(source, text, *message.GetDescriptor());
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
  if (errors.empty()) RefuseIgnoredParts(text, message, errors, places);
  return errors.ToStatus();
}

}  // namespace distbench::config
