// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/unknown_fields.h"

#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

void AddField(google::protobuf::Message& message, int number) {
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(number, 1);
}

TEST(FirstUnknownField, IsEmptyIfAllAreKnown) {
  TestSequence sequence;
  auto& test = *sequence.add_tests();
  test.set_name("t");
  test.add_actions()->mutable_iterations()->set_max_iteration_count(3);
  (*test.mutable_node_service_bundles())["node0"].add_services("client/0");
  EXPECT_EQ(FirstUnknownField(sequence), "");
}

TEST(FirstUnknownField, SaysWhere) {
  TestSequence sequence;
  auto& test = *sequence.add_tests();
  test.add_actions();
  AddField(*test.add_actions()->mutable_iterations(), 4711);
  EXPECT_EQ(FirstUnknownField(sequence),
            "field 4711 of tests[0].actions[1].iterations");
  AddField(sequence, 12);
  EXPECT_EQ(FirstUnknownField(sequence), "field 12 of the message");
}

TEST(FirstUnknownField, LooksIntoMaps) {
  DistributedSystemDescription test;
  AddField((*test.mutable_node_service_bundles())["node0"], 9);
  EXPECT_EQ(FirstUnknownField(test),
            "field 9 of node_service_bundles[0].value");
}

}  // namespace
}  // namespace distbench::config
