#include "distbench/config/reading/text_places.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::google::protobuf::io::Tokenizer;

constexpr int kTabWidth = 8;  // of the tokenizer

// Goes through a text and the message that was made of it together.
class TextWalk {
 public:
  TextWalk(absl::string_view text, MessagePlaces& places)
      : token_places_(text),
        places_(places),
        stream_(text.data(), static_cast<int>(text.size())),
        tokenizer_(&stream_, &errors_) {
    // As protobuf's parser does.
    tokenizer_.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokenizer_.set_allow_f_after_float(true);
    tokenizer_.Next();
  }

  const std::optional<RemovedField>& removed() const { return removed_; }

  // Up to the end of the message or of the text.
  void WalkFields(const Message& message) {
    while (!IsAtEnd() && !IsAt("}") && !IsAt(">")) WalkField(message);
  }

 private:
  bool IsAtEnd() { return tokenizer_.current().type == Tokenizer::TYPE_END; }
  bool IsAt(absl::string_view symbol) {
    return tokenizer_.current().text == symbol;
  }
  bool Consume(absl::string_view symbol) {
    if (!IsAt(symbol)) return false;
    tokenizer_.Next();
    return true;
  }

  // All that follows has no place, rather than a wrong one.
  void GiveUp() {
    while (tokenizer_.Next()) {
    }
  }

  Place Here() {
    return token_places_.Of(tokenizer_.current().line,
                            tokenizer_.current().column);
  }

  void WalkField(const Message& message) {
    const Place place = Here();
    const FieldDescriptor* const field =
        message.GetDescriptor()->FindFieldByName(tokenizer_.current().text);
    if (field == nullptr) {
      const std::string name = tokenizer_.current().text;
      if (message.GetDescriptor()->IsReservedName(name)) {
        removed_ = {place, message.GetDescriptor(), name};
      }
      return GiveUp();
    }
    tokenizer_.Next();
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
    tokenizer_.Next();  // the bracket
    WalkFields(field.is_repeated()
                   ? reflection.GetRepeatedMessage(message, &field, index)
                   : reflection.GetMessage(message, &field));
    tokenizer_.Next();
  }

  void SkipScalar() {
    Consume("-");
    const bool is_text = tokenizer_.current().type == Tokenizer::TYPE_STRING;
    tokenizer_.Next();
    // A text may be in pieces.
    while (is_text && tokenizer_.current().type == Tokenizer::TYPE_STRING) {
      tokenizer_.Next();
    }
  }

  TokenPlaces token_places_;
  MessagePlaces& places_;
  std::optional<RemovedField> removed_;  // which ends the walk
  // How many elements of a list have been seen.
  absl::flat_hash_map<std::pair<const Message*, const FieldDescriptor*>, int>
      counts_;
  google::protobuf::io::ArrayInputStream stream_;
  IgnoreErrors errors_;
  Tokenizer tokenizer_;
};

}  // namespace

Place TokenPlaces::Of(int line, int column) {
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

void TokenPlaces::AdvanceTo(int line) {
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

void AddTextPlaces(absl::string_view text, const Message& message,
                   MessagePlaces& places) {
  TextWalk(text, places).WalkFields(message);
}

std::optional<RemovedField> FindRemovedField(absl::string_view text,
                                             const Message& message) {
  MessagePlaces places;
  TextWalk walk(text, places);
  walk.WalkFields(message);
  return walk.removed();
}

}  // namespace distbench::config
