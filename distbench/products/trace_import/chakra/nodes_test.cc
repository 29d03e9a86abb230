// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/nodes.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/products/trace_import/testing/chakra_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr int64_t kMany = 1000;

ChakraTrace TraceOf(const std::string& text) {
  const auto trace = ReadChakra(text, kMany);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.value_or(ChakraTrace());
}

std::string ErrorOf(const std::string& text, int64_t max_nodes = kMany) {
  return std::string(ReadChakra(text, max_nodes).status().message());
}

TEST(ReadChakraTest, ReadsMessages) {
  ChakraNode collective = AllReduces(7, 4096, {3, 300});
  collective.name = "ncclKernel_AllReduce_RING_LL";
  collective.group = "tensors";
  ChakraNode compute = Computes(300, 25, {});
  compute.is_on_host = true;
  compute.stream = 20;
  const ChakraTrace trace = TraceOf(ChakraFile({collective, compute}));
  EXPECT_EQ(trace.version, "1.0.0");
  ASSERT_EQ(trace.nodes.size(), 2);
  const ChakraNode& first = trace.nodes[0];
  EXPECT_EQ(first.id, 7);
  EXPECT_EQ(first.name, collective.name);
  EXPECT_EQ(first.type, ChakraType::kCollective);
  EXPECT_THAT(first.data_deps, ElementsAre(3, 300));
  EXPECT_THAT(first.comm_type, Optional(0));
  EXPECT_THAT(first.comm_size, Optional(4096));
  EXPECT_EQ(first.group, "tensors");
  EXPECT_FALSE(first.is_on_host);
  EXPECT_EQ(trace.nodes[1].duration_us, 25);
  EXPECT_EQ(trace.nodes[1].stream, 20);
  EXPECT_TRUE(trace.nodes[1].is_on_host);
}

TEST(ReadChakraTest, ReadsJsonOfTheJsonizer) {
  // Documents follow one another; what is 0 is left out.
  const ChakraTrace trace = TraceOf(R"({
    "version": "0.0.4"
  }{
    "name": "all {}\" reduce", "type": "COMM_COLL_NODE",
    "dataDeps": ["12"], "durationMicros": "9",
    "attr": [ {"name": "comm_size", "int64Val": "1048576"},
              {"name": "comm_type", "int64Val": "6"},
              {"name": "pg_name", "stringVal": "3"},
              {"name": "involved_dim",
               "boolList": {"values": [true, false]}},
              {"name": "is_cpu_op", "boolVal": false} ]
  }{ "id": "12", "type": 4, "ctrlDeps": ["0"] })");
  EXPECT_EQ(trace.version, "0.0.4");
  ASSERT_EQ(trace.nodes.size(), 2);
  EXPECT_EQ(trace.nodes[0].id, 0);
  EXPECT_EQ(trace.nodes[0].name, "all {}\" reduce");
  EXPECT_THAT(trace.nodes[0].data_deps, ElementsAre(12));
  EXPECT_THAT(trace.nodes[0].comm_size, Optional(1048576));
  EXPECT_THAT(trace.nodes[0].comm_type, Optional(6));
  EXPECT_EQ(trace.nodes[0].group, "3");
  EXPECT_TRUE(trace.nodes[0].has_partial_dimensions);
  EXPECT_EQ(trace.nodes[1].type, ChakraType::kCompute);
  EXPECT_TRUE(trace.nodes[1].data_deps.empty());
}

TEST(ReadChakraTest, ReadsJsonOfTheFeeder) {
  const ChakraTrace trace = TraceOf(R"({ "workload_graph": [
    { "Id": 216, "Name": "x", "NodeType": 4, "data_deps": [], "runtime": 318,
      "is_cpu_op": true },
    { "Id": 217, "NodeType": 5, "data_deps": [216], "comm_dst": 2,
      "comm_tag": 5, "comm_size": 10 } ], "ngpus": 8 })");
  EXPECT_EQ(trace.version, "");
  ASSERT_EQ(trace.nodes.size(), 2);
  EXPECT_EQ(trace.nodes[0].duration_us, 318);
  EXPECT_TRUE(trace.nodes[0].is_on_host);
  EXPECT_EQ(trace.nodes[1].type, ChakraType::kSend);
  EXPECT_THAT(trace.nodes[1].comm_dst, Optional(2));
  EXPECT_EQ(trace.nodes[1].comm_tag, 5);
}

TEST(ReadChakraTest, NumbersMayBeOfAnyType) {
  const auto attribute = [](const std::string& value) {
    // A node with the attribute "comm_size", as a field of the schema.
    const std::string fields = absl::StrCat("\x0a\x09", "comm_size", value);
    const std::string node =
        absl::StrCat("\x52", std::string(1, fields.size()), fields);
    return TraceOf(absl::StrCat(std::string("\0", 1),
                                std::string(1, node.size()), node))
        .nodes.at(0)
        .comm_size;
  };
  EXPECT_THAT(attribute("\x38\x05"), Optional(5));   // int32
  EXPECT_THAT(attribute("\x68\x05"), Optional(5));   // uint64
  EXPECT_THAT(attribute("\x78\x09"), Optional(-5));  // sint32
  EXPECT_THAT(attribute(std::string("\x19\0\0\0\0\0\0\x14\x40", 9)),
              Optional(5));  // double
  EXPECT_THAT(attribute(std::string("\x2d\0\0\xa0\x40", 5)),
              Optional(5));  // float
  EXPECT_THAT(attribute(std::string("\x9d\x01\x05\0\0\0", 6)),
              Optional(5));  // fixed32
}

TEST(ReadChakraTest, EachByteThatIsMissingIsNoticed) {
  const std::string file =
      ChakraFile({Computes(1, 5, {}), AllReduces(2, 4096, {1})});
  const size_t first_node = 8;
  for (size_t size = first_node; size < file.size(); ++size) {
    const auto trace = ReadChakra(absl::string_view(file).substr(0, size), 9);
    // Between two nodes, nothing says that there was another one.
    if (trace.ok()) {
      EXPECT_EQ(trace->nodes.size(), 1);
      continue;
    }
    EXPECT_THAT(std::string(trace.status().message()),
                testing::AnyOf(HasSubstr("is cut off"), HasSubstr("no nodes")))
        << size;
  }
  EXPECT_THAT(ErrorOf(file.substr(0, file.size() - 1)),
              HasSubstr("after 1 nodes, has"));
}

TEST(ReadChakraTest, SaysWhatIsWrong) {
  ChakraNode strange = Computes(5, 1, {});
  strange.type = static_cast<ChakraType>(8);
  EXPECT_THAT(ErrorOf(ChakraFile({strange})),
              HasSubstr("node 5 is of type 8, which"));
  EXPECT_THAT(ErrorOf(R"({"workload_graph": [{"Id": 3, "NodeType": "GPU"}]})"),
              HasSubstr("node 3 is of type \"GPU\", which"));
  EXPECT_THAT(ErrorOf(ChakraFile({Computes(5, kMaxDurationUs + 1, {})})),
              HasSubstr("node 5 takes 86400000001 us"));
  EXPECT_THAT(ErrorOf(ChakraFile({Computes(1, 1, {}), Computes(2, 1, {})}), 1),
              HasSubstr("more than 1 nodes"));
  EXPECT_THAT(ErrorOf("\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_EQ(ErrorOf(""), "is empty");
  EXPECT_THAT(ErrorOf("{\"version\": \"1.0.0\"}{\"id\": 1, "),
              HasSubstr("is not JSON after 0 nodes"));
  EXPECT_THAT(ErrorOf(R"({"schema": "1.0.2", "nodes": [
                {"id": 2, "name": "x", "inputs": {}}]})"),
              HasSubstr("chakra_converter"));
  // A node with a field 11, as attributes were until 0.0.3.
  EXPECT_THAT(ErrorOf(std::string("\0\x04\x08\x09\x5a\0", 6)),
              HasSubstr("node 9 has attributes as"));
}

TEST(ChakraFuzzTest, KeptInputs) {
  for (const std::string& input : fuzzing::KeptCorpus("chakra")) {
    ImportAnyJob(input);
  }
}

}  // namespace
}  // namespace distbench::trace_import
