// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/resumption.h"

#include <string>
#include <vector>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

GetStatusResponse NodesOn(const std::vector<std::string>& hosts) {
  GetStatusResponse status;
  for (const std::string& host : hosts) {
    status.add_nodes()->mutable_registration()->set_hostname(host);
  }
  return status;
}

TEST(CheckHostsTest, WhatWasMeasuredElsewhereIsNotGoneOnWith) {
  TestSequenceResults results;
  EXPECT_EQ(base::Message(CheckHosts(results, NodesOn({}))), "");
  auto& nodes = *results.add_test_results()
                     ->mutable_resource_usage_logs()
                     ->mutable_node_resources();
  nodes["node0"];  // of an earlier version, which did not tell
  EXPECT_EQ(base::Message(CheckHosts(results, NodesOn({"c"}))), "");
  nodes["node0"].mutable_host()->set_hostname("a");
  nodes["node1"].mutable_host()->set_hostname("b");
  EXPECT_EQ(base::Message(CheckHosts(results, NodesOn({"b", "a", "c"}))), "");
  EXPECT_THAT(base::Message(CheckHosts(results, NodesOn({"d", "a", "c"}))),
              AllOf(HasSubstr("it has measured on b, where no node is now"),
                    HasSubstr("nodes are on a, c, d")));
  EXPECT_THAT(base::Message(CheckHosts(results, NodesOn({}))),
              AllOf(HasSubstr("on a, b,"), HasSubstr("there is none at all")));
}

}  // namespace
}  // namespace distbench::search
