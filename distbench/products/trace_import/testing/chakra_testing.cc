// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/testing/chakra_testing.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/products/trace_import/chakra/job.h"
#include "distbench/products/trace_import/chakra/rank_work.h"

namespace distbench::trace_import {
namespace {

std::string Varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) {
    text += static_cast<char>((value & 0x7F) | 0x80);
  }
  return text + static_cast<char>(value);
}

std::string Number(int field, uint64_t value) {
  return absl::StrCat(Varint(field << 3), Varint(value));
}

std::string Bytes(int field, absl::string_view bytes) {
  return absl::StrCat(Varint(field << 3 | 2), Varint(bytes.size()), bytes);
}

std::string Attribute(absl::string_view name, absl::string_view value) {
  return Bytes(10, absl::StrCat(Bytes(1, name), value));
}

std::string Int64(int64_t value) {
  return Number(9, static_cast<uint64_t>(value));
}

std::string Message(absl::string_view bytes) {
  return absl::StrCat(Varint(bytes.size()), bytes);
}

ChakraNode Node(uint64_t id, ChakraType type, std::vector<uint64_t> after) {
  ChakraNode node;
  node.id = id;
  node.type = type;
  node.data_deps = std::move(after);
  return node;
}

void AddIf(const std::optional<int64_t>& value, absl::string_view name,
           std::string& text) {
  if (value) text += Attribute(name, Int64(*value));
}

std::string NodeBytes(const ChakraNode& node) {
  std::string text = absl::StrCat(Number(1, node.id), Bytes(2, node.name),
                                  Number(3, static_cast<uint64_t>(node.type)));
  for (const uint64_t dep : node.data_deps) text += Number(5, dep);
  absl::StrAppend(&text, Number(7, static_cast<uint64_t>(node.duration_us)),
                  Attribute("is_cpu_op", Number(27, node.is_on_host)),
                  Attribute("stream", Int64(node.stream)));
  AddIf(node.comm_type, "comm_type", text);
  AddIf(node.comm_size, "comm_size", text);
  AddIf(node.comm_src, "comm_src", text);
  AddIf(node.comm_dst, "comm_dst", text);
  if (!node.group.empty()) text += Attribute("pg_name", Bytes(29, node.group));
  return text;
}

}  // namespace

ChakraNode Computes(uint64_t id, int64_t duration_us,
                    std::vector<uint64_t> after) {
  ChakraNode node = Node(id, ChakraType::kCompute, std::move(after));
  node.duration_us = duration_us;
  return node;
}

ChakraNode AllReduces(uint64_t id, int64_t bytes, std::vector<uint64_t> after) {
  ChakraNode node = Node(id, ChakraType::kCollective, std::move(after));
  node.comm_type = 0;
  node.comm_size = bytes;
  return node;
}

ChakraNode Sends(uint64_t id, int64_t to, std::vector<uint64_t> after) {
  ChakraNode node = Node(id, ChakraType::kSend, std::move(after));
  node.comm_dst = to;
  node.comm_size = 100;
  return node;
}

ChakraNode Receives(uint64_t id, int64_t from, std::vector<uint64_t> after) {
  ChakraNode node = Node(id, ChakraType::kReceive, std::move(after));
  node.comm_src = from;
  return node;
}

std::string ChakraFile(const std::vector<ChakraNode>& nodes) {
  std::string file = Message(Bytes(1, "1.0.0"));
  for (const ChakraNode& node : nodes) file += Message(NodeBytes(node));
  return file;
}

void ImportAnyJob(absl::string_view input) {
  constexpr int64_t kMaxNodes = 1000;
  constexpr int kMaxRanks = 8;
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  std::vector<absl::string_view> files = {input};
  JobOptions options;
  if (choice & 0x80) {
    const size_t half = input.size() / 2;
    files = {input.substr(0, half), input.substr(half)};
  } else {
    options.ranks = 2 + choice % kMaxRanks;
  }
  std::vector<RankWork> works;
  for (const absl::string_view file : files) {
    const absl::StatusOr<ChakraTrace> trace = ReadChakra(file, kMaxNodes);
    if (!trace.ok()) return;
    absl::StatusOr<RankWork> work = WorkOf(*trace);
    if (!work.ok()) return;
    works.push_back(*std::move(work));
  }
  const absl::StatusOr<JobImport> import = ImportJob(works, options);
  if (import.ok()) {
    JobText(*import);
    JobJson(*import);
  } else if (import.status().message().find("no valid config") !=
             absl::string_view::npos) {
    std::fprintf(stderr, "%s\n", import.status().ToString().c_str());
    std::abort();
  }
}

}  // namespace distbench::trace_import
