// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/load.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/base/plugins.h"
#include "distbench/config/reading/parse.h"
#include "distbench/config/reading/places.h"
#include "distbench/config/reading/referenced_files.h"
#include "distbench/config/reading/unknown_fields.h"
#include "distbench/config/validate/check.h"
#include "distbench/config/validate/language_part.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace distbench::config {
namespace {

constexpr char kStandardInput[] = "standard input";

absl::Status Unreadable(absl::string_view source, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(source, ": ", why));
}

// Some editors begin UTF-8 files with a byte order mark, which is no part of
// the text and of its columns.
absl::string_view WithoutByteOrderMark(absl::string_view contents) {
  return absl::StripPrefix(contents, "\xef\xbb\xbf");
}

// Text contains no control characters other than white space.
bool IsTextByte(unsigned char byte) {
  return byte >= ' ' || (byte >= '\t' && byte <= '\r');
}

bool IsText(absl::string_view contents) {
  return std::all_of(contents.begin(), contents.end(), IsTextByte);
}

// Explains what bytes that are neither text nor a sequence probably are.
absl::Status ExplainBinary(absl::string_view contents,
                           absl::string_view source) {
  if (absl::StartsWith(contents, "\x1f\x8b")) {
    return Unreadable(source,
                      "is compressed by gzip; a config is plain text or binary "
                      "protobuf, and `distbench report` reads results");
  }
  if (absl::StartsWith(contents, "\xff\xfe") ||
      absl::StartsWith(contents, "\xfe\xff")) {
    return Unreadable(source, "is UTF-16 text; save it as UTF-8");
  }
  return Unreadable(
      source,
      "is neither text nor a binary TestSequence, as a config must "
      "be; `distbench report` reads results");
}

absl::StatusOr<TestSequence> ParseBinary(absl::string_view contents,
                                         absl::string_view source) {
  TestSequence sequence;
  if (!sequence.ParseFromArray(contents.data(), contents.size()) ||
      !FirstUnknownField(sequence).empty()) {
    return ExplainBinary(contents, source);
  }
  return sequence;
}

bool IsNamedYaml(absl::string_view source) {
  return absl::EndsWith(source, ".yaml") || absl::EndsWith(source, ".yml") ||
         absl::EndsWith(source, ".json");
}

// Whether the first of `rest` begins a message of text format. A map of YAML
// may begin like that, but hardly on a line of its own after a name.
bool BeginsMessage(absl::string_view rest) {
  rest = absl::StripLeadingAsciiWhitespace(rest);
  return absl::StartsWith(rest, "{") || absl::StartsWith(rest, "<");
}

// Whether a text that is no text format is likely to be meant as YAML or JSON.
bool LooksLikeYaml(absl::string_view contents) {
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(contents);
  if (absl::StartsWith(start, "{") || absl::StartsWith(start, "[")) return true;
  for (absl::string_view line : absl::StrSplit(contents, '\n')) {
    const absl::string_view rest =
        contents.substr(line.data() + line.size() - contents.data());
    line = absl::StripTrailingAsciiWhitespace(line);
    // None of these begins or is a line of text format; "name:" may be one that
    // is indented.
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "- ") ||
        line == "---" ||
        (absl::EndsWith(line, ":") && absl::ascii_isalpha(line[0]) &&
         !BeginsMessage(rest))) {
      return true;
    }
  }
  return false;
}

// A file whose name promises YAML may be in text format all the same.
absl::Status ParseNamedYaml(absl::string_view contents,
                            absl::string_view source,
                            google::protobuf::Message& message,
                            MessagePlaces* places) {
  const absl::Status status = ParseYaml(contents, source, message, places);
  if (status.ok() || !ParseText(contents, source, message).ok()) return status;
  // Some texts are either, such as `tests_setting: {keep_instance_log: 1}`.
  return Unreadable(
      source, absl::StrCat("is in text format, but its name ends as that of "
                           "YAML or JSON; let it end with .config, or mend "
                           "what is wrong with it as YAML:\n",
                           status.message()));
}

// 64-bit FNV-1a (Fowler-Noll-Vo), which is the same in every build.
uint64_t Fnv1a(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : bytes) {
    hash ^= static_cast<uint8_t>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

// Serialises maps in the order of their keys.
std::string Serialise(const DistributedSystemDescription& test) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream output(&stream);
  output.SetSerializationDeterministic(true);
  test.SerializeWithCachedSizes(&output);
  output.Trim();
  return bytes;
}

absl::StatusOr<TestSequence> ParseSequenceText(absl::string_view contents,
                                               absl::string_view source) {
  TestSequence sequence;
  const absl::Status status = ParseAnyText(contents, source, sequence);
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace

absl::Status ParseAnyText(absl::string_view contents, absl::string_view source,
                          google::protobuf::Message& message,
                          MessagePlaces* places) {
  contents = WithoutByteOrderMark(contents);
  if (IsNamedYaml(source)) {
    return ParseNamedYaml(contents, source, message, places);
  }
  const absl::Status status = ParseText(contents, source, message, places);
  if (status.ok() || !LooksLikeYaml(contents)) return status;
  return ParseYaml(contents, source, message, places);
}

absl::StatusOr<TestSequence> LoadTestSequence(const std::string& path,
                                              ConfigText* text) {
  const bool is_stdin = path == "-" || path == "/dev/stdin";
  absl::StatusOr<std::string> contents = base::ReadFile(is_stdin ? "-" : path);
  if (!contents.ok()) return contents.status();
  ConfigText read = {is_stdin ? kStandardInput : path, *std::move(contents)};
  absl::StatusOr<TestSequence> sequence =
      ParseTestSequence(read.contents, read.source);
  if (!sequence.ok()) return sequence;
  const std::vector<Problem> problems =
      ReadReferencedFiles(is_stdin ? "" : path, *sequence);
  if (!problems.empty()) return ToStatus(problems, read);
  if (text != nullptr) *text = std::move(read);
  return sequence;
}

absl::StatusOr<TestSequence> ParseTestSequence(absl::string_view contents,
                                               absl::string_view source) {
  if (contents.size() > base::kMaxFileBytes) {
    return Unreadable(source, "is too large for a config");
  }
  absl::StatusOr<TestSequence> sequence =
      IsText(contents) ? ParseSequenceText(contents, source)
                       : ParseBinary(contents, source);
  if (sequence.ok() && sequence->tests().empty()) {
    return Unreadable(source,
                      IsNamedYaml(source)
                          ? "has no tests; write at least one, as in {tests: "
                            "[{name: t}]}"
                          : "has no tests; write at least one `tests { ... }`");
  }
  return sequence;
}

std::string ToText(const TestSequence& sequence) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(sequence, &text);
  return text;
}

std::string ConfigHash(DistributedSystemDescription test) {
  test.clear_random_seed();
  RedactSecrets(test);
  // Serialise() relies on the sizes that this call caches.
  test.ByteSizeLong();
  return absl::StrFormat("%016x", Fnv1a(Serialise(test)));
}

void RedactSecrets(DistributedSystemDescription& test) {
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->RedactSecrets(test);
  }
}

// ---- Problems, with their places --------------------------------------------

namespace {

struct PlacedLine {
  Place place;
  std::string line;
};

// After all places of a text.
constexpr Place kNowhere = {std::numeric_limits<int>::max(), 0};

bool IsBefore(const PlacedLine& a, const PlacedLine& b) {
  return a.place < b.place;
}

}  // namespace

std::vector<std::string> PlacedLines(absl::Span<const Problem> problems,
                                     const ConfigText& text,
                                     const google::protobuf::Message& type) {
  if (problems.empty()) return {};
  const std::unique_ptr<google::protobuf::Message> written(type.New());
  MessagePlaces places;
  const absl::string_view contents = WithoutByteOrderMark(text.contents);
  const absl::Status read =
      ParseAnyText(contents, text.source, *written, &places);
  if (!read.ok()) places = MessagePlaces();  // a binary config
  const PlaceNames names(text.source, contents);
  std::vector<PlacedLine> placed;
  for (const Problem& problem : problems) {
    const std::optional<Place> place = places.Find(*written, problem.path);
    placed.push_back(
        {place.value_or(kNowhere),
         absl::StrCat(place.has_value() ? names.NameOf(*place) : text.source,
                      ": ", ToString(problem))});
  }
  std::stable_sort(placed.begin(), placed.end(), IsBefore);
  std::vector<std::string> lines;
  for (PlacedLine& each : placed) lines.push_back(std::move(each.line));
  return lines;
}

absl::Status ToStatus(absl::Span<const Problem> problems,
                      const ConfigText& text,
                      const google::protobuf::Message& type) {
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrJoin(PlacedLines(problems, text, type), "\n"));
}

absl::Status WithPlaces(const absl::Status& error, const ConfigText& text) {
  std::vector<Problem> problems;
  for (const absl::string_view line : absl::StrSplit(error.message(), '\n')) {
    problems.push_back(ProblemFrom(line));
  }
  const auto is_of_test = [](const Problem& problem) {
    return absl::StartsWith(problem.path, "tests[");
  };
  if (!absl::IsInvalidArgument(error) ||
      std::none_of(problems.begin(), problems.end(), is_of_test)) {
    return error;
  }
  return ToStatus(problems, text);
}

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence,
                                               const ConfigText& text) {
  Canonicalize(sequence);
  const absl::Status status = ToStatus(Validate(sequence), text);
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace distbench::config
