// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_NODE_TESTING_TWO_CLIENTS_H_
#define DISTBENCH_NODE_TESTING_TWO_CLIENTS_H_

#include <string>

#include "distbench/config/validate/check.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// A canonical test of two clients and a server, with more fields in text format
// of the clients' service and of the test.
inline DistributedSystemDescription TwoClients(
    const std::string& of_client, const std::string& of_test = "") {
  TestSequence tests;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "tests { " + of_test + " services { name: 'client' count: 2 " +
          of_client + R"( }
        services { name: 'server' count: 1 }
        rpc_descriptions { name: 'query' client: 'client' server: 'server' }
        actions {
          name: 'run' rpc_name: 'query' iterations { max_iteration_count: 1 }
        }
        action_lists { name: 'client' action_names: 'run' }
        action_lists { name: 'query' }
      })",
      &tests));
  const auto checked = config::CheckTestSequence(tests);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TESTING_TWO_CLIENTS_H_
