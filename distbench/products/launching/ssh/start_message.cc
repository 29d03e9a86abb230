// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/start_message.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/host_port.h"

namespace distbench::launching {
namespace {

constexpr absl::string_view kPortPrefix = "distbench launch: port ";
constexpr absl::string_view kLeaderPrefix = "leader ";
constexpr absl::string_view kEnd = "start";
constexpr absl::string_view kPemBegin = "-----BEGIN ";
constexpr absl::string_view kPemEnd = "-----END ";
constexpr int kPemBlocks = 3;

// Far above any secret; guards against input that is something else.
constexpr size_t kMaxBytes = 1 << 20;

absl::Status NotAMessage(absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("standard input is not what distbench launch sends: ", why,
                   "; this command is for distbench launch alone"));
}

// Reads byte by byte, because what follows belongs to others.
absl::StatusOr<std::string> ReadLine(int input) {
  std::string line;
  while (line.size() < kMaxBytes) {
    char c;
    const ssize_t count = read(input, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, "cannot read stdin");
    if (count == 0) {
      return absl::UnavailableError("distbench launch has ended");
    }
    if (c == '\n') return line;
    line += c;
  }
  return NotAMessage("a line does not end");
}

absl::StatusOr<StartMessage> WithSecret(StartMessage message,
                                        std::vector<std::string> blocks) {
  if (blocks.empty()) return message;
  if (blocks.size() != kPemBlocks) {
    return NotAMessage(absl::StrCat("it has ", blocks.size(),
                                    " PEM blocks and not ", kPemBlocks,
                                    ": authority, certificate and key"));
  }
  message.secret = {.ca = std::move(blocks[0]),
                    .cert = std::move(blocks[1]),
                    .key = std::move(blocks[2])};
  return message;
}

}  // namespace

std::string PortLine(int port) { return absl::StrCat(kPortPrefix, port); }

std::optional<int> ParsePortLine(absl::string_view line) {
  int port = 0;
  if (!absl::ConsumePrefix(&line, kPortPrefix) ||
      !absl::SimpleAtoi(line, &port) || port < 1 || port > base::kMaxPort) {
    return std::nullopt;
  }
  return port;
}

std::string EncodeStartMessage(const StartMessage& message) {
  std::string text;
  if (!message.leader.empty()) {
    absl::StrAppend(&text, kLeaderPrefix, message.leader, "\n");
  }
  for (const std::string* block :
       {&message.secret.ca, &message.secret.cert, &message.secret.key}) {
    absl::StrAppend(&text, *block);
    if (!block->empty() && block->back() != '\n') text += '\n';
  }
  return absl::StrCat(text, kEnd, "\n");
}

absl::StatusOr<StartMessage> ReadStartMessage(int input) {
  StartMessage message;
  std::vector<std::string> blocks;
  bool in_block = false;
  for (size_t bytes = 0; bytes < kMaxBytes;) {
    const absl::StatusOr<std::string> line = ReadLine(input);
    if (!line.ok()) return line.status();
    bytes += line->size() + 1;
    if (absl::StartsWith(*line, kPemBegin)) {
      in_block = true;
      blocks.emplace_back();
    }
    if (in_block) {
      absl::StrAppend(&blocks.back(), *line, "\n");
      in_block = !absl::StartsWith(*line, kPemEnd);
    } else if (*line == kEnd) {
      return WithSecret(std::move(message), std::move(blocks));
    } else if (absl::StartsWith(*line, kLeaderPrefix)) {
      message.leader = line->substr(kLeaderPrefix.size());
    } else {
      return NotAMessage("a line is neither a leader nor a PEM block");
    }
  }
  return NotAMessage("it does not end");
}

}  // namespace distbench::launching
