#include "distbench/results/legacy_results.h"

#include <string>

#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

TEST(DropSilentInstancesTest, KeepsWhoSentOrLogged) {
  auto logs = FromText<ServiceLogs>(R"(
    instance_logs { key: "caller" value { peer_logs { key: "s" value {} } } }
    instance_logs { key: "worker" value { activity_logs { key: "a" } } }
    instance_logs { key: "replayer" value { replay_trace_logs {} } }
    instance_logs { key: "failed" value { engine_error_message: "bad" } }
    instance_logs {
      key: "server"
      value {
        error_dictionary { error_message: "" }
        driver_counters { key: "rpcs_received" value: 3 }
      }
    })");
  DropSilentInstances(logs);
  EXPECT_EQ(logs.instance_logs_size(), 4);
  EXPECT_EQ(logs.instance_logs().count("server"), 0);
}

TEST(DropExtensionsTest, LeavesWhatExistingProgramsKnow) {
  auto results = FromText<TestSequenceResults>(R"(
    test_results {
      traffic_config {
        name: "t"
        random_seed: 7
        rpc_descriptions { name: "query" client: "c" server: "s" }
      }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/0"
              value {
                rpc_logs {
                  key: 0
                  value {
                    successful_rpc_samples { latency_ns: 5 lateness_ns: 6 }
                    statistics { succeeded_count: 1 }
                  }
                }
                replay_logs { key: 1 value {} }
              }
            }
            driver_counters { key: "rpcs_sent" value: 3 }
          }
        }
        instance_logs { key: "s/0" value { error_dictionary {} } }
      }
      log_summary: "RPC latency summary:"
      run_info { version: "1" }
    }
    searches {})");
  DropExtensions(results);
  const auto expected = FromText<TestSequenceResults>(R"(
    test_results {
      traffic_config {
        name: "t"
        rpc_descriptions { name: "query" client: "c" server: "s" }
      }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/0"
              value {
                rpc_logs {
                  key: 0
                  value { successful_rpc_samples { latency_ns: 5 } }
                }
              }
            }
          }
        }
      }
      log_summary: "RPC latency summary:"
    })");
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(results, expected))
      << results.DebugString();
}

}  // namespace
}  // namespace distbench::results
