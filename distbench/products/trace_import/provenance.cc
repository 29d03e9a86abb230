// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/provenance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/validate/check.h"

namespace distbench::trace_import {
namespace {

// The sentence with the number in place of '#', before a word in the plural.
std::string Fill(std::string sentence, int64_t number) {
  const size_t place = sentence.find('#');
  if (place == sentence.npos) return sentence;
  const size_t word = place + 2;
  if (number == 1 && word < sentence.size()) {
    const size_t end =
        std::min(sentence.size(), sentence.find_first_of(" ,;:", word));
    if (sentence[end - 1] == 's') sentence.erase(end - 1, 1);
  }
  return sentence.replace(place, 1, absl::StrCat(number));
}

std::vector<std::string> Sentences(const Tally& tally) {
  std::vector<std::string> sentences;
  for (const auto& [sentence, number] : tally) {
    sentences.push_back(Fill(sentence, number));
  }
  return sentences;
}

// A title, and a line for each sentence.
std::string List(absl::string_view title, absl::string_view line_begin,
                 const std::vector<std::string>& sentences) {
  std::string text = absl::StrCat(title, ":\n");
  for (const std::string& sentence : sentences) {
    absl::StrAppend(&text, line_begin, sentence, "\n");
  }
  return text;
}

std::string Origins(absl::string_view title_begin, absl::string_view line_begin,
                    const Provenance& from) {
  std::string text;
  for (const auto& [title, tally] :
       {std::pair("In the data", &from.in_the_data),
        std::pair("Inferred", &from.inferred),
        std::pair("Invented", &from.invented)}) {
    text +=
        List(absl::StrCat(title_begin, title), line_begin, Sentences(*tally));
  }
  return text;
}

}  // namespace

std::string ProvenanceComment(const Provenance& provenance) {
  return absl::StrCat("# Made from traces by distbench import.\n",
                      Origins("#\n# ", "# - ", provenance));
}

std::string ProvenanceText(const Provenance& provenance) {
  std::string text = Origins("", "  ", provenance);
  if (!provenance.warnings.empty()) {
    text += List("Warnings", "  ", provenance.warnings);
  }
  if (provenance.notes.empty()) return text;
  std::vector<std::string> notes;
  for (const auto& [note, count] : provenance.notes) {
    notes.push_back(
        absl::StrCat(count, count == 1 ? " time: " : " times: ", note));
  }
  return text + List("Repaired or left out", "  ", notes);
}

void AddProvenance(const Provenance& provenance, base::Json& json) {
  json["in_the_data"] = Sentences(provenance.in_the_data);
  json["inferred"] = Sentences(provenance.inferred);
  json["invented"] = Sentences(provenance.invented);
  json["warnings"] = provenance.warnings;
  json["notes"] = provenance.notes;
}

absl::StatusOr<TestSequence> CheckImported(
    const DistributedSystemDescription& test, absl::string_view source,
    Provenance& provenance) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, " make no valid config: ", checked.status().message()));
  }
  for (const config::Problem& warning : config::FindWarnings(*checked)) {
    provenance.warnings.push_back(config::ToString(warning));
  }
  return checked;
}

}  // namespace distbench::trace_import
