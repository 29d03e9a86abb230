// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/host_output.h"

#include <cerrno>
#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/products/launching/ssh/start_message.h"

namespace distbench::launching {
namespace {

constexpr size_t kTailBytes = 4096;
constexpr size_t kTailLines = 12;

// A line that is longer is no line for `launch`.
constexpr size_t kMaxLineBytes = 4096;

}  // namespace

absl::Status HostOutput::LogTo(const std::string& path) {
  errno = 0;
  log_.open(path, std::ios::binary | std::ios::trunc);
  if (log_.is_open()) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

void HostOutput::Add(SshStream stream, absl::string_view bytes) {
  if (stream == SshStream::kErr || port_) {
    Keep(stream, bytes);
  } else {
    AddLines(bytes);
  }
}

void HostOutput::Finish() {
  Keep(SshStream::kOut, begun_line_);
  begun_line_.clear();
}

void HostOutput::AddLines(absl::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    absl::StrAppend(&begun_line_, bytes.substr(0, end));
    bytes.remove_prefix(end == absl::string_view::npos ? bytes.size()
                                                       : end + 1);
    if (end == absl::string_view::npos && begun_line_.size() < kMaxLineBytes) {
      return;
    }
    // A shell's start-up file may have written something without a line feed.
    if (absl::EndsWith(begun_line_, kReadyLine)) {
      is_ready_ = true;
    } else if (const auto port = ParsePortLine(begun_line_)) {
      port_ = port;
    } else {
      Keep(SshStream::kOut, end == absl::string_view::npos
                                ? begun_line_
                                : absl::StrCat(begun_line_, "\n"));
    }
    begun_line_.clear();
  }
}

void HostOutput::Keep(SshStream stream, absl::string_view bytes) {
  if (bytes.empty()) return;
  if (log_.is_open()) {
    log_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    log_.flush();
  }
  absl::StrAppend(&tail_, bytes);
  if (tail_.size() > 2 * kTailBytes) {
    tail_.erase(0, tail_.size() - kTailBytes);
  }
  const auto& show = stream == SshStream::kOut ? shown_.out : shown_.err;
  if (is_ready_ && show) show(bytes);
}

std::string HostOutput::LastWords() const {
  const std::vector<std::string> lines =
      absl::StrSplit(tail_, '\n', absl::SkipWhitespace());
  std::string words;
  const size_t first =
      lines.size() > kTailLines ? lines.size() - kTailLines : 0;
  for (size_t i = first; i < lines.size(); ++i) {
    absl::StrAppend(&words, "    ", lines[i], "\n");
  }
  return words;
}

}  // namespace distbench::launching
