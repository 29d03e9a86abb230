// The text of a config, and where its problems are in it.
//
//   ConfigText text;
//   absl::StatusOr<TestSequence> sequence = LoadTestSequence(file, &text);
//   if (sequence.ok()) sequence = CheckTestSequence(*std::move(sequence),
//   text);

#ifndef DISTBENCH_CONFIG_READING_CONFIG_TEXT_H_
#define DISTBENCH_CONFIG_READING_CONFIG_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/config/problems/problem.h"
#include "google/protobuf/message.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// What a file, or standard input, has.
struct ConfigText {
  std::string source;  // its name
  std::string contents;
};

// The problems of a message that was read from a text, one per line, as
// "source:line:column: path: what is wrong", in the order of the text. The
// place is that of the field, or else of the message that lacks it; PlaceNames
// says how it is counted. Problems of binary configs have only the source, and
// come last, as others without a place. If there are problems, this takes about
// as long as reading the text. `type` is any message of the type.
std::vector<std::string> PlacedLines(
    absl::Span<const Problem> problems, const ConfigText& text,
    const google::protobuf::Message& type = TestSequence::default_instance());

// OK if there are no problems; otherwise INVALID_ARGUMENT with PlacedLines().
absl::Status ToStatus(
    absl::Span<const Problem> problems, const ConfigText& text,
    const google::protobuf::Message& type = TestSequence::default_instance());

// The error of a sequencer, whose problems of tests of a text get their places.
// Other errors stay as they are.
absl::Status WithPlaces(const absl::Status& error, const ConfigText& text);

// As in check.h, for a sequence that was read from a text: the error has
// PlacedLines().
absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence,
                                               const ConfigText& text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_CONFIG_TEXT_H_
