// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/rank_files.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/products/trace_import/chakra/nodes.h"

namespace distbench::trace_import {
namespace {

// The last part but one of NAME.RANK.et.
std::optional<int64_t> RankOf(absl::string_view file) {
  const std::vector<absl::string_view> parts = absl::StrSplit(file, '.');
  int64_t rank = 0;
  if (parts.size() < 3 || !absl::SimpleAtoi(parts[parts.size() - 2], &rank) ||
      rank < 0) {
    return std::nullopt;
  }
  return rank;
}

absl::StatusOr<RankWork> ReadRank(const std::string& file, int64_t max_nodes) {
  const absl::StatusOr<std::string> text =
      base::ReadFile(file, kMaxChakraBytes);
  if (!text.ok()) return text.status();
  const absl::StatusOr<ChakraTrace> trace = ReadChakra(*text, max_nodes);
  absl::StatusOr<RankWork> work =
      trace.ok() ? WorkOf(*trace) : absl::StatusOr<RankWork>(trace.status());
  if (work.ok()) return work;
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", work.status().message()));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FilesByRank(
    absl::Span<const std::string> files) {
  if (files.size() == 1) return std::vector<std::string>{files[0]};
  std::map<int64_t, std::string> by_rank;
  for (const std::string& file : files) {
    const auto rank = RankOf(file);
    if (!rank) {
      return absl::InvalidArgumentError(absl::StrCat(
          file,
          ": which rank is it of? Name the files of ranks NAME.0.et, "
          "NAME.1.et, ..."));
    }
    const auto [other, is_new] = by_rank.try_emplace(*rank, file);
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": is of rank ", *rank, ", as ", other->second,
                       " is; give one file of each rank"));
    }
  }
  std::vector<std::string> ordered;
  for (const auto& [rank, file] : by_rank) {
    if (rank != static_cast<int64_t>(ordered.size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the file of rank ", ordered.size(), " is missing (there is ", file,
          "); give the files of all ranks, or only one of them with --ranks=N, "
          "so that all do what it does"));
    }
    ordered.push_back(file);
  }
  return ordered;
}

absl::StatusOr<std::vector<RankWork>> ReadRanks(
    absl::Span<const std::string> files, int64_t max_nodes) {
  const absl::StatusOr<std::vector<std::string>> by_rank = FilesByRank(files);
  if (!by_rank.ok()) return by_rank.status();
  std::vector<RankWork> works;
  for (const std::string& file : *by_rank) {
    absl::StatusOr<RankWork> work = ReadRank(file, max_nodes);
    if (!work.ok()) return work.status();
    works.push_back(*std::move(work));
  }
  return works;
}

}  // namespace distbench::trace_import
