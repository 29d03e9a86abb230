// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/message_json.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/report.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::base {
namespace {

using ::testing::ElementsAre;

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

std::vector<Json> CellsOf(const google::protobuf::Message& row) {
  std::vector<Json> cells;
  ForEachCell(row, [&](const Json& cell) { cells.push_back(cell); });
  return cells;
}

TEST(MessageJsonTest, ReportsHaveZerosAndWhatIsAbsentIsNull) {
  EXPECT_EQ(DumpJson(MessageJson(FromText<Report::Usage>(""))),
            R"({"user_cpu_seconds":0.0,"system_cpu_seconds":0.0,)"
            R"("max_resident_kib":0,"voluntary_context_switches":0,)"
            R"("involuntary_context_switches":0})");
  EXPECT_EQ(DumpJson(MessageJson(FromText<Report::PlacedInstance>(
                R"(instance: "a/0" node: "")"))),
            R"({"instance":"a/0","node":"","hostname":null,"address":null,)"
            R"("engine":null})");
  const Json rpc = MessageJson(Report::Rpc());
  EXPECT_TRUE(rpc["service_time"].is_null());
  EXPECT_EQ(rpc["failures"], Json::array());
}

TEST(MessageJsonTest, NumbersStayNumbers) {
  Report::Totals totals;
  totals.set_request_bytes(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(DumpJson(MessageJson(totals)["request_bytes"]),
            "9223372036854775807");
  Report::Rpc rpc;
  rpc.set_per_second(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(MessageJson(rpc)["per_second"].is_null());
}

TEST(MessageJsonTest, MapsAreInTheOrderOfTheirKeys) {
  EXPECT_EQ(DumpJson(MessageJson(FromText<Report::Binding>(R"(
              resident_bytes_by_node { key: 10 value: 1 }
              resident_bytes_by_node { key: 9 value: 2 }
            )"))["resident_bytes_by_node"]),
            R"({"9":2,"10":1})");
}

TEST(MessageJsonTest, ListsAndMessagesWithAPrefixLoseTheirFields) {
  EXPECT_EQ(DumpJson(MessageJson(
                FromText<Report::Point>("value_ns: 5 count_at_most: 7"))),
            "[5,7]");
  const Json edge =
      MessageJson(FromText<Report::Edge>("traffic { times { p99_ns: 3 } }"));
  EXPECT_EQ(edge["p99_ns"], 3);
  EXPECT_EQ(edge["succeeded"], 0);
  EXPECT_FALSE(edge.contains("traffic"));
}

TEST(MessageJsonTest, TablesHaveColumnsOnce) {
  EXPECT_EQ(DumpJson(MessageJson(FromText<Report::TimePartTable>(R"(
              rows { rpc: "r" part: "network" count: 2 times { max_ns: 4 } }
              rows_left_out: 1
            )"))),
            R"({"columns":["rpc","part","count","mean_ns","p50_ns","p90_ns",)"
            R"("p99_ns","max_ns"],)"
            R"("rows":[["r","network",2,null,null,null,null,4]],)"
            R"("rows_left_out":1})");
}

TEST(RowsTest, ColumnsHaveThePrefixOfTheFieldAroundThem) {
  const std::vector<std::string> columns =
      ColumnsOf(*Report::RpcTable::Row::descriptor());
  EXPECT_EQ(columns[1], "succeeded") << "of counts";
  EXPECT_THAT(columns,
              testing::IsSupersetOf({"service_p99_ns", "lateness_p99.99_ns"}));
  EXPECT_EQ(CellsOf(Report::RpcTable::Row()).size(), columns.size());
}

TEST(RowsTest, CellsAreValuesOrNull) {
  EXPECT_THAT(CellsOf(FromText<Report::RunCells>(R"(test: "t")")),
              ElementsAre(Json(""), Json("t"), Json(0)));
  EXPECT_THAT(CellsOf(FromText<Report::IntervalTimes>("p99_ns: 1")),
              ElementsAre(Json(), Json(1), Json()));
  EXPECT_THAT(CellsOf(FromText<Report::OriginCell>("simulated: true")),
              ElementsAre(Json(true)));
}

TEST(MessageJsonTest, ConfigsHaveWhatIsSetWithNamesFirst) {
  const auto rpc = FromText<RpcSpec>(R"(client: "c" deadline_us: 5 name: "n")");
  EXPECT_EQ(DumpJson(MessageJson(rpc, JsonForm::kConfig)),
            R"({"name":"n","client":["c"],"deadline_us":"5"})");
  EXPECT_EQ(
      DumpJson(MessageJson(rpc, JsonForm::kConfigOfNumbers)["deadline_us"]),
      "5");
}

}  // namespace
}  // namespace distbench::base
