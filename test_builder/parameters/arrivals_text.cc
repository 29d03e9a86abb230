// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/text_format.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {
namespace {

// A piece of the syntax: its word, the values that follow it, for help, and its
// form of Arrivals in text format. Values between quotes are texts, others
// numbers.
struct Piece {
  absl::string_view word;
  absl::string_view values;
  absl::string_view form;
};

constexpr absl::string_view kSteps = "steps";

constexpr Piece kPieces[] = {
    {"constant", "", R"(process: "constant")"},
    {"exponential", "", R"(process: "exponential")"},
    {"gamma", ":VARIATION",
     R"(process: "gamma" coefficient_of_variation: <VARIATION>)"},
    {"kept", ":SHARE", "kept_share: <SHARE>"},
    {"sine", ":PERIOD:AMPLITUDE",
     R"(modulations { sine { period: "<PERIOD>" amplitude: <AMPLITUDE> } })"},
    {"on_off", ":ON:OFF",
     R"(modulations { on_off { on: "<ON>" off: "<OFF>" } })"},
    {"random_on_off", ":ON:OFF",
     R"(modulations { on_off {
          on: "<ON>" off: "<OFF>" times: "exponential"
        } })"},
    {"bursts", ":FACTOR:BURST:CALM",
     R"(modulations { markov {
          states { factor: <FACTOR> mean_duration: "<BURST>" }
          states { mean_duration: "<CALM>" }
        } })"},
    {"ramp", ":FROM:TO:TIME",
     R"(modulations { schedule { segments {
          factor: <FROM> to_factor: <TO> duration: "<TIME>"
        } } })"},
    {kSteps, ":FROM:TO:COUNT:EACH", ""},  // see StepsForm()
    {"random_phase", "", R"(client_phase: "random")"},
    {"spread_phase", "", R"(client_phase: "spread")"},
};

// Returns an empty form if FROM, TO or COUNT are wrong.
std::string StepsForm(const ValueMap& values) {
  constexpr int64_t kMaxSteps = 1000;
  double from = 0;
  double to = 0;
  int64_t count = 0;
  if (!absl::SimpleAtod(values.at("FROM"), &from) ||
      !absl::SimpleAtod(values.at("TO"), &to) ||
      !absl::SimpleAtoi(values.at("COUNT"), &count) || count < 2 ||
      count > kMaxSteps) {
    return "";
  }
  std::string segments;
  for (int64_t i = 0; i < count; ++i) {
    absl::StrAppendFormat(&segments,
                          "segments { factor: %.17g duration: \"<EACH>\" }\n",
                          from + (to - from) * static_cast<double>(i) /
                                     static_cast<double>(count - 1));
  }
  return absl::StrCat("modulations { schedule { ", segments, "} }");
}

// Whether the values, after the word, are those of the piece.
bool ParsePiece(const Piece& piece, const std::vector<std::string>& words,
                Arrivals& arrivals) {
  const std::vector<std::string> names = absl::StrSplit(piece.values, ':');
  if (names.size() != words.size()) return false;
  ValueMap values;
  for (size_t i = 0; i < names.size(); ++i) values[names[i]] = words[i];
  const std::string form =
      piece.word == kSteps ? StepsForm(values) : std::string(piece.form);
  bool is_valid = !form.empty();
  const std::string text =
      FillForm(form, [&](absl::string_view name, bool is_quoted) {
        const std::string& value = values.find(name)->second;
        if (is_quoted) return absl::CEscape(value);
        double number = 0;
        is_valid &= absl::SimpleAtod(value, &number);
        return absl::StrFormat("%.17g", number);
      });
  return is_valid &&
         google::protobuf::TextFormat::ParseFromString(text, &arrivals);
}

absl::Status AddPiece(absl::string_view text, Arrivals& arrivals) {
  const std::vector<std::string> words = absl::StrSplit(text, ':');
  for (const Piece& piece : kPieces) {
    if (words.front() != piece.word) continue;
    if (ParsePiece(piece, words, arrivals)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" must be ", piece.word, piece.values));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", words.front(), "\" is none of ", ArrivalsSyntax()));
}

// Modulations are multiplied; all else can be given only once.
bool HaveInCommon(const Arrivals& a, const Arrivals& b) {
  return (a.has_process() && b.has_process()) ||
         (a.has_kept_share() && b.has_kept_share()) ||
         (a.has_client_phase() && b.has_client_phase());
}

}  // namespace

absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text) {
  Arrivals arrivals;
  for (absl::string_view piece : absl::StrSplit(text, '+')) {
    Arrivals part;
    if (absl::Status added = AddPiece(piece, part); !added.ok()) return added;
    if (HaveInCommon(arrivals, part)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", piece,
                       "\" replaces an earlier piece of its kind; "
                       "leave one of them out"));
    }
    arrivals.MergeFrom(part);
  }
  return arrivals;
}

std::string ArrivalsSyntax() {
  return absl::StrJoin(kPieces, ", ", [](std::string* out, const Piece& piece) {
    absl::StrAppend(out, piece.word, piece.values);
  });
}

}  // namespace distbench::test_builder
