// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/config_text.h"

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

TEST(ConfigTextTest, PutsNameAndAttributesFirstAndShortMessagesOnOneLine) {
  const auto test = base::FromText<DistributedSystemDescription>(R"pb(
    services { name: "s" count: 3 }
    rpc_descriptions {
      name: "a_rather_long_name_of_an_rpc"
      client: "s"
      server: "s"
      fanout_filter: "all"
      tracing_interval: 0
    }
    action_lists { name: "r" }
    name: "t"
    attributes { key: "b" value: "2" }
    attributes { key: "a" value: "it's" }
    attributes {
      key: "key"
      value: "a value so long that the line has more than eighty characters"
    }
  )pb");
  EXPECT_EQ(ConfigText({test}),
            R"(tests {
  name: "t"
  attributes { key: "a" value: "it\'s" }
  attributes { key: "b" value: "2" }
  attributes { key: "key" value: "a value so long that the line has more than eighty characters" }
  services { name: "s" count: 3 }
  rpc_descriptions {
    name: "a_rather_long_name_of_an_rpc"
    client: "s"
    server: "s"
    fanout_filter: "all"
    tracing_interval: 0
  }
  action_lists { name: "r" }  # no actions: answered at once
}
)");
}

TEST(ConfigTextTest, ReadsBackAsItWas) {
  const auto test = base::FromText<DistributedSystemDescription>(R"pb(
    name: "\"quoted\" \\ \n \303\274"
    attributes { key: "key" value: "" }
    node_service_bundles {
      key: "node0"
      value { services: "s/0" services: "s/1" }
    }
    action_lists {
      name: "list"
      predicate_probabilities { key: "p" value: 0.1 }
      predicate_probabilities { key: "q" value: 0.3333333 }
    }
    service_constraints {
      key: "s/*"
      value {
        constraint_sets {
          constraints {
            attribute_name: "slice"
            int64_values: 1
            int64_values: 2
            relation: MODULO_EQUAL
            modulus: 3
          }
        }
      }
    }
    distribution_config {
      name: "d"
      cdf_points { cdf: 0.68764 value: 883470 }
    }
    delay_actions_by_spinning: true
    random_seed: 18446744073709551615
  )pb");
  const auto read = config::ParseTestSequence(ConfigText({test, test}), "text");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->tests_size(), 2);
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(read->tests(0), test))
      << ConfigText({test});
}

TEST(ProducedByTest, QuotesForAShell) {
  EXPECT_EQ(ProducedBy({"-o", "-", "clique:node_count=4,8"}),
            "# produced by test_builder -o - clique:node_count=4,8\n");
  EXPECT_EQ(ProducedBy({"a=<f", "it's", "", "two\nlines"}),
            "# produced by test_builder 'a=<f' 'it'\\''s' '' 'two lines'\n");
}

}  // namespace
}  // namespace distbench::test_builder
