// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// ---- Pairs of surrogates ----------------------------------------------------

// JSON may write characters above U+FFFF as "\ud83d\ude00", a pair of
// surrogates, which yaml-cpp refuses.

constexpr char kEscape[] = "\\u";
constexpr char kLongEscape[] = "\\U";
constexpr size_t kEscapeLength = 6;       // \ud83d
constexpr size_t kLongEscapeLength = 10;  // \U0001f600
constexpr size_t kPairLength = 2 * kEscapeLength;

constexpr uint32_t kFirstHigh = 0xd800;
constexpr uint32_t kFirstLow = 0xdc00;
constexpr uint32_t kAfterLow = 0xe000;
constexpr uint32_t kFirstOfPairs = 0x10000;

// The code unit of the escape that a text begins with.
std::optional<uint32_t> EscapeAt(absl::string_view text) {
  uint32_t unit = 0;
  if (text.size() < kEscapeLength || !absl::StartsWith(text, kEscape) ||
      !std::all_of(text.begin() + 2, text.begin() + kEscapeLength,
                   absl::ascii_isxdigit) ||
      !absl::SimpleHexAtoi(text.substr(2, 4), &unit)) {
    return std::nullopt;
  }
  return unit;
}

// The character of the pair that a text begins with.
std::optional<uint32_t> PairAt(absl::string_view text) {
  const std::optional<uint32_t> high = EscapeAt(text);
  if (!high.has_value() || *high < kFirstHigh || *high >= kFirstLow) {
    return std::nullopt;
  }
  const std::optional<uint32_t> low = EscapeAt(text.substr(kEscapeLength));
  if (!low.has_value() || *low < kFirstLow || *low >= kAfterLow) {
    return std::nullopt;
  }
  return kFirstOfPairs + ((*high - kFirstHigh) << 10) + (*low - kFirstLow);
}

// Whether the backslash at a position does not belong to one before it.
bool BeginsEscape(absl::string_view text, size_t position) {
  size_t begin = position;
  while (begin > 0 && text[begin - 1] == '\\') --begin;
  return (position - begin) % 2 == 0;
}

// A text with YAML's own escapes, "\U0001f600", in place of the pairs of
// another one.
class SurrogatePairs {
 public:
  explicit SurrogatePairs(absl::string_view text) {
    size_t done = 0;
    size_t position = text.find(kEscape);
    while (position != absl::string_view::npos) {
      const std::optional<uint32_t> character = PairAt(text.substr(position));
      const bool is_pair =
          character.has_value() && BeginsEscape(text, position);
      if (is_pair) {
        absl::StrAppend(&replaced_, text.substr(done, position - done));
        pairs_.push_back({replaced_.size(),
                          std::string(text.substr(position, kPairLength))});
        absl::StrAppend(&replaced_, absl::StrFormat("\\U%08x", *character));
        done = position + kPairLength;
      }
      position = text.find(kEscape, position + (is_pair ? kPairLength : 1));
    }
    absl::StrAppend(&replaced_, text.substr(done));
  }

  // The text for yaml-cpp.
  const std::string& replaced() const { return replaced_; }

  // By how much the part between two positions of replaced() is shorter than
  // that of the text.
  int MissingBetween(size_t begin, size_t end) const {
    return static_cast<int>((FirstFrom(end) - FirstFrom(begin)) *
                            (kPairLength - kLongEscapeLength));
  }

  // Gives a scalar without double quotes, which begins at a position of
  // replaced(), what the text says: escapes mean nothing there. What looks like
  // YAML's escape comes in the same order in both, pairs or not.
  void Restore(size_t position, std::string& scalar) const {
    if (pairs_.empty()) return;
    size_t at = scalar.find(kLongEscape);
    while (at != std::string::npos) {
      position = replaced_.find(kLongEscape, position);
      const auto pair = FirstFrom(position);
      if (pair == pairs_.end()) return;
      const bool is_pair = pair->position == position;
      if (is_pair) scalar.replace(at, kLongEscapeLength, pair->written);
      at = scalar.find(kLongEscape, at + (is_pair ? kPairLength : 1));
      ++position;
    }
  }

 private:
  struct Pair {
    size_t position;      // in replaced_
    std::string written;  // in the text
  };

  std::vector<Pair>::const_iterator FirstFrom(size_t position) const {
    return std::lower_bound(
        pairs_.begin(), pairs_.end(), position,
        [](const Pair& pair, size_t wanted) { return pair.position < wanted; });
  }

  std::string replaced_;
  std::vector<Pair> pairs_;
};

// ---- The tree ---------------------------------------------------------------

// Twice the nesting of messages that text format may have, because each message
// may be in a list.
constexpr size_t kMaxOpen = 100;

// Thrown only within this file, as yaml-cpp's exceptions are.
class RefusedYaml : public YAML::Exception {
 public:
  using YAML::Exception::Exception;
};

// In the text whose pairs these are.
Place PlaceOf(const YAML::Mark& mark, const SurrogatePairs& pairs) {
  if (mark.is_null()) return {};
  const int missing = pairs.MissingBetween(mark.pos - mark.column, mark.pos);
  return {mark.line, mark.column + missing};
}

// Makes the tree.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SurrogatePairs& pairs, YamlDocument& document)
      : text_(pairs.replaced()), pairs_(pairs), document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (document_.root == nullptr) return;
    throw RefusedYaml(mark,
                      "a second document begins here; a config is one "
                      "document, without a line --- in it");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = Add(mark, IsWrittenNull(mark) ? YamlNode::Kind::kNull
                                                   : YamlNode::Kind::kMissing);
    Finish(node, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw RefusedYaml(mark,
                        "this alias is within what it stands for; an alias "
                        "stands for something before it");
    }
    Attach(*found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override {
    CheckTag(mark, tag);
    YamlNode& node = Add(mark, YamlNode::Kind::kScalar);
    node.is_plain = tag == "?";
    node.is_binary = tag == kBinaryTag;
    node.text = value;
    const size_t begin = ContentAt(mark);
    if (begin < text_.size() && text_[begin] != '"') {
      pairs_.Restore(begin, node.text);
    }
    last_scalar_ = mark;
    Finish(node, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

  // yaml-cpp accepts a text that lacks its quote at the end of the file, and
  // may so contain most of the file.
  void CheckLastQuote() const {
    if (!last_scalar_.is_null() && !IsClosed(ContentAt(last_scalar_))) {
      throw RefusedYaml(last_scalar_,
                        "the quote that begins here has no end; add it");
    }
  }

 private:
  struct OpenNode {
    YamlNode* node;
    YAML::anchor_t anchor;
  };

  // Where a node itself begins, after the anchor and the tag that its mark
  // precedes.
  size_t ContentAt(const YAML::Mark& mark) const {
    constexpr absl::string_view kSpaces = " \t\r\n";
    size_t position = std::min<size_t>(mark.pos, text_.size());
    while (position < text_.size() &&
           (text_[position] == '&' || text_[position] == '!')) {
      position = text_.find_first_of(kSpaces, position);
      position = text_.find_first_not_of(kSpaces, position);
    }
    return std::min(position, text_.size());
  }

  // Whether a null is a word. Otherwise, its mark is that of what follows.
  bool IsWrittenNull(const YAML::Mark& mark) const {
    if (mark.is_null()) return false;
    for (const absl::string_view word : {"~", "null", "Null", "NULL"}) {
      absl::string_view rest = text_.substr(ContentAt(mark));
      if (absl::ConsumePrefix(&rest, word) &&
          (rest.empty() ||
           absl::StrContains(" \t\r\n,]}", rest.substr(0, 1)))) {
        return true;
      }
    }
    return false;
  }

  // Whether a scalar that begins at a position has no quotes, or both.
  bool IsClosed(size_t begin) const {
    const char quote = begin < text_.size() ? text_[begin] : '\0';
    if (quote != '"' && quote != '\'') return true;
    for (size_t i = begin + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        const bool is_doubled =
            quote == '\'' && i + 1 < text_.size() && text_[i + 1] == quote;
        if (!is_doubled) return true;
        ++i;
      }
    }
    return false;
  }

  static constexpr char kTagPrefix[] = "tag:yaml.org,2002:";

  static constexpr char kBinaryTag[] = "tag:yaml.org,2002:binary";

  // "?" and "!" are yaml-cpp's own, of nodes without a tag.
  static void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    for (const char* known :
         {"str", "int", "float", "bool", "binary", "map", "seq"}) {
      if (tag == absl::StrCat(kTagPrefix, known)) return;
    }
    throw RefusedYaml(mark, absl::StrCat("the tag ", Quoted(tag),
                                         " has no meaning here; leave it out"));
  }

  YamlNode& Add(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode& node = document_.nodes.emplace_back();
    node.kind = kind;
    node.place = PlaceOf(mark, pairs_);
    Attach(node);
    return node;
  }

  void Attach(const YamlNode& node) {
    if (open_.empty()) {
      document_.root = &node;
    } else {
      open_.back().node->children.push_back(&node);
    }
  }

  // From now on, aliases may stand for the node.
  void Finish(YamlNode& node, YAML::anchor_t anchor) {
    document_.cost += CostOf(node);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
  }

  void Open(const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor, YamlNode::Kind kind) {
    CheckTag(mark, tag);
    if (open_.size() >= kMaxOpen) {
      throw RefusedYaml(mark, absl::StrCat("is nested more than ", kMaxOpen,
                                           " deep, as no config is"));
    }
    open_.push_back({&Add(mark, kind), anchor});
  }

  void Close() {
    Finish(*open_.back().node, open_.back().anchor);
    open_.pop_back();
  }

  const absl::string_view text_;
  const SurrogatePairs& pairs_;
  YamlDocument& document_;
  std::vector<OpenNode> open_;
  absl::flat_hash_map<YAML::anchor_t, const YamlNode*> anchors_;
  YAML::Mark last_scalar_ = YAML::Mark::null_mark();
};

// Whether what stands at the place, or a line up to it, begins as comments of
// other languages do, which JSON with comments has as well. To YAML, it begins
// a text.
bool HasForeignComment(absl::string_view text, Place place) {
  const auto begins_with_one = [](absl::string_view rest) {
    rest = absl::StripLeadingAsciiWhitespace(rest);
    return absl::StartsWith(rest, "//") || absl::StartsWith(rest, "/*");
  };
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (begins_with_one(line)) return true;
    if (number++ < place.line) continue;
    return begins_with_one(
        line.substr(std::min(static_cast<size_t>(place.column), line.size())));
  }
  return false;
}

// What to do about an error of yaml-cpp at a place of the text.
absl::string_view RemedyOf(absl::string_view message, absl::string_view text,
                           Place place) {
  if (HasForeignComment(text, place)) {
    return "; comments begin with #, not with // or /*";
  }
  struct Remedy {
    const char* error;
    const char* remedy;
  };
  static const Remedy kRemedies[] = {
      {YAML::ErrorMsg::MAP_VALUE,
       "; put a text that contains \": \" in quotes, a space after the colon "
       "of "
       "each name, and fields of a message in the same column, by spaces, not "
       "by tabs"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "; indent by spaces"},
      {YAML::ErrorMsg::BLOCK_ENTRY,
       "; begin each item of a list with \"- \" in a line of its own, indented "
       "by spaces, not by tabs"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "; a \",\" or a \"}\" is missing"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "; a \",\" or a \"]\" is missing"},
      {YAML::ErrorMsg::END_OF_MAP,
       "; the fields of a message must be indented alike"},
      {YAML::ErrorMsg::END_OF_SEQ,
       "; the items of a list must be indented alike"},
      {YAML::ErrorMsg::FLOW_END,
       "; this bracket closes none that is open, or another kind"},
      {YAML::ErrorMsg::UNKNOWN_TOKEN,
       "; put a text that begins with such a character in quotes"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "; a quote has no end"},
      {YAML::ErrorMsg::INVALID_UNICODE, "; write the character itself"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR,
       "; an alias such as *name needs &name before it"},
      {YAML::ErrorMsg::BAD_FILE, "; it is nested too deep"},
  };
  for (const Remedy& each : kRemedies) {
    if (absl::StartsWith(message, each.error)) return each.remedy;
  }
  return "";
}

}  // namespace

int64_t CostOf(const YamlNode& node) {
  constexpr int64_t kNodeBytes = 64;
  return kNodeBytes + static_cast<int64_t>(node.text.size());
}

YamlDocument ParseYamlDocument(absl::string_view text, PlacedErrors& errors) {
  YamlDocument document;
  const SurrogatePairs pairs(text);
  try {
    std::istringstream stream(pairs.replaced());
    YAML::Parser parser(stream);
    TreeBuilder builder(pairs, document);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.CheckLastQuote();
  } catch (const YAML::Exception& error) {
    const Place place = PlaceOf(error.mark, pairs);
    errors.Add(place, error.msg, RemedyOf(error.msg, text, place));
  }
  return document;
}

}  // namespace distbench::config
