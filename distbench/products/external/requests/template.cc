// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/requests/template.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/base/work_random.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::external {
namespace {

constexpr absl::string_view kOpening = "{{";
constexpr absl::string_view kClosing = "}}";
constexpr int64_t kMaxHexDigits = 4096;

// An upper limit for what is not counted: integers, UUIDs, names of instances.
constexpr size_t kMostPlainBytes = 300;

// What escaping makes of a byte, at most: \u0001.
constexpr size_t kMostEscapedBytes = 6;

// Appends a value as the content of a JSON string (RFC 8259, section 7).
void AppendJsonEscaped(absl::string_view value, std::string& text) {
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&text, "\\u", absl::Hex(c, absl::kZeroPad4));
    } else {
      text += c;
    }
  }
}

// Appends a value as the content of a string in quotes.
void AppendEscaped(absl::string_view value, TemplateSyntax syntax,
                   std::string& text) {
  if (syntax == TemplateSyntax::kJson) {
    AppendJsonEscaped(value, text);
  } else {
    absl::StrAppend(&text, absl::CEscape(value));
  }
}

void AppendHex(int64_t digits, base::WorkRandom& random, std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr int64_t kDigitsPerNumber = 16;
  uint64_t bits = 0;
  for (int64_t i = 0; i < digits; ++i, bits >>= 4) {
    if (i % kDigitsPerNumber == 0) bits = random();
    text += kDigits[bits & 15];
  }
}

void AppendUuid(base::WorkRandom& random, std::string& text) {
  constexpr uint64_t kVersion4 = 0x4000;
  constexpr uint64_t kVariant = uint64_t{0b10} << 62;
  const uint64_t high = (random() & ~uint64_t{0xf000}) | kVersion4;
  const uint64_t low = (random() >> 2) | kVariant;
  constexpr uint64_t k48Bits = (uint64_t{1} << 48) - 1;
  absl::StrAppend(&text, absl::Hex(high >> 32, absl::kZeroPad8), "-",
                  absl::Hex((high >> 16) & 0xffff, absl::kZeroPad4), "-",
                  absl::Hex(high & 0xffff, absl::kZeroPad4), "-",
                  absl::Hex(low >> 48, absl::kZeroPad4), "-",
                  absl::Hex(low & k48Bits, absl::kZeroPad12));
}

// Requires minimum <= maximum.
int64_t UniformBetween(int64_t minimum, int64_t maximum,
                       base::WorkRandom& random) {
  const uint64_t width =
      static_cast<uint64_t>(maximum) - static_cast<uint64_t>(minimum);
  const uint64_t offset = width + 1 == 0 ? random() : random.Below(width + 1);
  return static_cast<int64_t>(static_cast<uint64_t>(minimum) + offset);
}

// Whether the end of a growing text is in quotes.
class QuoteState {
 public:
  explicit QuoteState(TemplateSyntax syntax) : syntax_(syntax) {}

  bool is_inside() const { return quote_ != 0; }

  void Pass(absl::string_view text) {
    for (const char c : text) Pass(c);
  }

 private:
  void Pass(char c) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (is_inside()) {
      if (c == quote_) quote_ = 0;
      is_escaped_ = c == '\\';
    } else if (IsQuote(c)) {
      quote_ = c;
    }
  }

  bool IsQuote(char c) const {
    return (c == '"' && syntax_ != TemplateSyntax::kPlain) ||
           (c == '\'' && syntax_ == TemplateSyntax::kTextFormat);
  }

  const TemplateSyntax syntax_;
  char quote_ = 0;  // the quote that ends the string; 0: not in a string
  bool is_escaped_ = false;
};

}  // namespace

class Template::Parser {
 public:
  Parser(absl::string_view text, TemplateSyntax syntax,
         const std::vector<std::string>& columns)
      : text_(text), columns_(columns), quotes_(syntax) {
    template_.syntax_ = syntax;
  }

  absl::StatusOr<Template> Run() {
    while (position_ < text_.size()) {
      const size_t opening =
          std::min(text_.find(kOpening, position_), text_.size());
      AddLiteral(text_.substr(position_, opening - position_));
      position_ = opening;
      if (position_ == text_.size()) break;
      if (absl::Status added = AddAtBraces(); !added.ok()) return added;
    }
    return std::move(template_);
  }

 private:
  using Arguments = std::vector<std::string>;

  struct Form {
    absl::string_view text;  // as users write it
    absl::Status (Parser::*read)(const Arguments& arguments,
                                 Variable& variable);
  };

  static const std::array<Form, 8>& Forms();

  void AddLiteral(absl::string_view literal) {
    quotes_.Pass(literal);
    absl::StrAppend(&template_.literals_.back(), literal);
  }

  // Adds what begins with the braces at position_.
  absl::Status AddAtBraces() {
    const absl::string_view rest = text_.substr(position_ + kOpening.size());
    if (rest.substr(0, kOpening.size()) == kOpening) {
      AddLiteral(kOpening);
      position_ += 2 * kOpening.size();
      return absl::OkStatus();
    }
    const size_t length = rest.find(kClosing);
    if (length == absl::string_view::npos) {
      return Error(rest.size() + kOpening.size(),
                   "has no \"}}\" at its end; write {{{{ for two braces");
    }
    return AddVariable(rest.substr(0, length));
  }

  absl::Status AddVariable(absl::string_view content) {
    const size_t length = kOpening.size() + content.size() + kClosing.size();
    Variable variable = {.is_quoted = quotes_.is_inside()};
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(content, absl::MaxSplits(':', 1));
    Arguments arguments;
    // Choices and columns may contain colons.
    const bool takes_all = parts.first == "choice" || parts.first == "row";
    if (takes_all) {
      arguments = {std::string(parts.second)};
    } else if (content.size() > parts.first.size()) {
      arguments = absl::StrSplit(parts.second, ':');
    }
    for (const Form& form : Forms()) {
      if (NameOf(form) != parts.first) continue;
      const absl::Status read = (this->*form.read)(arguments, variable);
      if (!read.ok()) {
        return Error(length, absl::StrCat(read.message(), "; write {{",
                                          form.text, "}}"));
      }
      template_.variables_.push_back(std::move(variable));
      template_.literals_.emplace_back();
      position_ += length;
      return absl::OkStatus();
    }
    return Error(length,
                 absl::StrCat("is not a variable; ",
                              config::Suggestion(parts.first, AllNames()),
                              "; write {{{{ for two braces"));
  }

  static absl::string_view NameOf(const Form& form) {
    return form.text.substr(0, form.text.find(':'));
  }

  static std::vector<std::string> AllNames() {
    std::vector<std::string> names;
    for (const Form& form : Forms()) names.emplace_back(NameOf(form));
    return names;
  }

  // Returns an error about the next `length` characters.
  absl::Status Error(size_t length, absl::string_view problem) {
    return absl::InvalidArgumentError(absl::StrCat(
        "character ", position_ + 1, ": ",
        config::Quoted(text_.substr(position_, length)), " ", problem));
  }

  absl::Status ReadNothing(const Arguments& arguments, Kind kind,
                           Variable& variable) {
    variable.kind = kind;
    if (arguments.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("takes nothing after its name");
  }

  // Reads two integers.
  absl::Status ReadTwo(const Arguments& arguments, Variable& variable) {
    if (arguments.size() == 2 &&
        absl::SimpleAtoi(arguments[0], &variable.first) &&
        absl::SimpleAtoi(arguments[1], &variable.second)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError("needs two integers of 64 bits");
  }

  absl::Status ReadCounter(const Arguments& arguments, Variable& variable) {
    variable.kind = Kind::kCounter;
    variable.second = 1;
    return arguments.empty() ? absl::OkStatus() : ReadTwo(arguments, variable);
  }

  absl::Status ReadRandom(const Arguments& arguments, Variable& variable) {
    variable.kind = Kind::kRandom;
    const absl::Status read = ReadTwo(arguments, variable);
    if (!read.ok() || variable.first <= variable.second) return read;
    return absl::InvalidArgumentError("has a MIN above its MAX");
  }

  absl::Status ReadHex(const Arguments& arguments, Variable& variable) {
    variable.kind = Kind::kHex;
    if (arguments.size() == 1 &&
        absl::SimpleAtoi(arguments[0], &variable.first) &&
        variable.first >= 1 && variable.first <= kMaxHexDigits) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("needs a number of digits from 1 to ", kMaxHexDigits));
  }

  absl::Status ReadChoice(const Arguments& arguments, Variable& variable) {
    variable.kind = Kind::kChoice;
    if (arguments[0].empty()) {
      return absl::InvalidArgumentError("has nothing to choose from");
    }
    variable.choices = absl::StrSplit(arguments[0], '|');
    return absl::OkStatus();
  }

  absl::Status ReadRow(const Arguments& arguments, Variable& variable) {
    variable.kind = Kind::kRow;
    const auto found = absl::c_find(columns_, arguments[0]);
    if (found != columns_.end()) {
      variable.first = found - columns_.begin();
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        columns_.empty()
            ? std::string("needs rows, and the RPC has none")
            : absl::StrCat("names no column of the rows; ",
                           config::Suggestion(arguments[0], columns_)));
  }

  absl::Status ReadUuid(const Arguments& arguments, Variable& variable) {
    return ReadNothing(arguments, Kind::kUuid, variable);
  }

  absl::Status ReadInstance(const Arguments& arguments, Variable& variable) {
    return ReadNothing(arguments, Kind::kInstance, variable);
  }

  // The length of each of several would be anybody's guess.
  absl::Status ReadFiller(const Arguments& arguments, Variable& variable) {
    if (template_.has_filler()) {
      return absl::InvalidArgumentError("is there already");
    }
    return ReadNothing(arguments, Kind::kFiller, variable);
  }

  const absl::string_view text_;
  const std::vector<std::string>& columns_;
  QuoteState quotes_;
  size_t position_ = 0;
  Template template_;
};

const std::array<Template::Parser::Form, 8>& Template::Parser::Forms() {
  static constexpr std::array<Form, 8> kForms = {{
      {"counter:START:STEP", &Parser::ReadCounter},
      {"random:MIN:MAX", &Parser::ReadRandom},
      {"random_hex:N", &Parser::ReadHex},
      {"uuid", &Parser::ReadUuid},
      {"choice:a|b|c", &Parser::ReadChoice},
      {"row:COLUMN", &Parser::ReadRow},
      {"instance", &Parser::ReadInstance},
      {"filler", &Parser::ReadFiller},
  }};
  return kForms;
}

absl::StatusOr<Template> Template::Parse(
    absl::string_view text, TemplateSyntax syntax,
    const std::vector<std::string>& columns) {
  return Parser(text, syntax, columns).Run();
}

bool Template::uses_rows() const {
  return absl::c_any_of(variables_, [](const Variable& variable) {
    return variable.kind == Kind::kRow;
  });
}

bool Template::has_filler() const {
  return absl::c_any_of(variables_, [](const Variable& variable) {
    return variable.kind == Kind::kFiller;
  });
}

size_t Template::MostBytes(const Variable& variable,
                           const std::vector<std::vector<std::string>>& rows) {
  size_t most = 0;
  switch (variable.kind) {
    case Kind::kHex:
      return variable.first;
    case Kind::kChoice:
      for (const std::string& choice : variable.choices) {
        most = std::max(most, choice.size());
      }
      break;
    case Kind::kRow:
      for (size_t i = 1; i < rows.size(); ++i) {
        most = std::max(most, rows[i][variable.first].size());
      }
      break;
    case Kind::kCounter:
    case Kind::kRandom:
    case Kind::kUuid:
    case Kind::kInstance:
      return kMostPlainBytes;
    case Kind::kFiller:
      break;
  }
  return variable.is_quoted ? most * kMostEscapedBytes : most;
}

int64_t Template::MostBytes(
    const std::vector<std::vector<std::string>>& rows) const {
  size_t most = 0;
  for (const std::string& literal : literals_) most += literal.size();
  for (const Variable& variable : variables_) most += MostBytes(variable, rows);
  return static_cast<int64_t>(most);
}

void Template::AppendTo(const TemplateRequest& request,
                        std::string& text) const {
  text += literals_[0];
  for (int i = 0; i < variable_count(); ++i) {
    if (variables_[i].is_quoted) {
      std::string value;
      AppendValueOf(i, request, value);
      AppendEscaped(value, syntax_, text);
    } else {
      AppendValueOf(i, request, text);
    }
    text += literals_[i + 1];
  }
}

void Template::AppendValueOf(int index, const TemplateRequest& request,
                             std::string& text) const {
  const Variable& variable = variables_[index];
  const auto number = static_cast<uint64_t>(request.number);
  base::WorkRandom random(request.seed, number, index);
  switch (variable.kind) {
    case Kind::kCounter:
      // Wraps around at the end of 64 bits.
      absl::StrAppend(
          &text, static_cast<int64_t>(static_cast<uint64_t>(variable.first) +
                                      static_cast<uint64_t>(variable.second) *
                                          number));
      break;
    case Kind::kRandom:
      absl::StrAppend(&text,
                      UniformBetween(variable.first, variable.second, random));
      break;
    case Kind::kHex:
      AppendHex(variable.first, random, text);
      break;
    case Kind::kUuid:
      AppendUuid(random, text);
      break;
    case Kind::kChoice:
      text += variable.choices[random.Below(variable.choices.size())];
      break;
    case Kind::kRow:
      text += (*request.row)[variable.first];
      break;
    case Kind::kInstance:
      absl::StrAppend(&text, request.instance);
      break;
    case Kind::kFiller:
      text.append(request.filler_bytes, 'x');
      break;
  }
}

std::string Template::With(const std::vector<std::string>& values) const {
  std::string text = literals_[0];
  for (size_t i = 0; i < values.size(); ++i) {
    absl::StrAppend(&text, values[i], literals_[i + 1]);
  }
  return text;
}

absl::Status CheckTemplate(absl::string_view text,
                           const std::vector<std::string>& columns) {
  return Template::Parse(text, TemplateSyntax::kPlain, columns).status();
}

}  // namespace distbench::external
