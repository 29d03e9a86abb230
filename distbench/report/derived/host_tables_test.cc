// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "distbench/report/derived/tables.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {

// The tables of nodes, their CPUs, control groups and connections.

namespace {

using ::testing::ElementsAre;

TEST(CsvHostsTest, ResourcesHaveTheCountersThatTheHostHas) {
  const std::vector<std::string> lines =
      CsvLines(Csv(Sourced({ResultFromText(R"(
        traffic_config { name: "t" }
        resource_usage_logs {
          node_resources {
            key: "n"
            value {
              samples {
                duration_ns: 1000000000
                busiest_cpu_ns: 1
                run_queue_delay_ns: 2
                host_counters {
                  user_cpu_ns: 3 system_cpu_ns: 4 irq_cpu_ns: 5
                  softirq_cpu_ns: 6 steal_cpu_ns: 7 idle_cpu_ns: 8
                  iowait_cpu_ns: 9 tcp_sent_segments: 10
                }
                data_connections {
                  connection_count: 11 sent_segments: 12
                  retransmitted_segments: 13 congestion_marked_segments: 14
                  mean_rtt_ns: 15 max_rtt_ns: 16
                }
                hardware_counters {
                  cycles: 17 instructions: 18 cache_references: 19
                  cache_misses: 20
                }
                energy_uj { key: "package-0" value: 21 }
                energy_uj { key: "package-0/dram" value: 7 }
                energy_uj { key: "package-1" value: 100 }
                energy_uj { key: "psys" value: 300 }
              }
              samples { duration_ns: 1000000000 }
            }
          }
        })")}),
                   "resources"));
  EXPECT_THAT(
      lines,
      ElementsAre(
          "source,test,repetition,node,end_timestamp_ns,duration_s,"
          "process_cpu_ns,host_cpu_ns,resident_bytes,"
          "host_available_memory_bytes,voluntary_context_switches,"
          "involuntary_context_switches,network_received_bytes,"
          "network_sent_bytes,network_dropped_packets,busiest_cpu_ns,"
          "run_queue_delay_ns,user_cpu_ns,system_cpu_ns,irq_cpu_ns,"
          "softirq_cpu_ns,steal_cpu_ns,idle_cpu_ns,iowait_cpu_ns,"
          "throttled_count,throttled_ns,cpu_pressure_ns,memory_pressure_ns,"
          "io_pressure_ns,tcp_sent_segments,tcp_retransmitted_segments,"
          "nice_cpu_ns,data_connections,data_sent_segments,data_retransmitted_"
          "segments,"
          "data_congestion_marked_segments,data_mean_rtt_ns,data_max_rtt_ns,"
          "cycles,instructions,cache_references,cache_misses,"
          "package_energy_uj",
          "file.pb,t,0,n,0,1,0,0,0,0,0,0,0,0,0,1,2,3,4,5,6,7,8,9,,,,,,10,,,"
          "11,12,13,14,15,16,17,18,19,20,121",
          "file.pb,t,0,n,0,1,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,"));
}

TEST(CsvHostsTest, CpusHaveARowEachSecond) {
  const auto results = Sourced({ResultFromText(R"(
    traffic_config { name: "t" }
    resource_usage_logs {
      node_resources {
        key: "n"
        value {
          samples {
            end_timestamp_ns: 5 duration_ns: 2000000000
            cpus { cpu: 0 user_ns: 1 }
            cpus {
              cpu: 3 user_ns: 2 system_ns: 3 irq_ns: 4 softirq_ns: 5
              steal_ns: 6 idle_ns: 7 iowait_ns: 8 nice_ns: 1
            }
          }
          samples { end_timestamp_ns: 9 }
        }
      }
    })")});
  EXPECT_THAT(
      CsvLines(Csv(results, "cpus")),
      ElementsAre("source,test,repetition,node,end_timestamp_ns,duration_s,cpu,"
                  "user_ns,system_ns,irq_ns,softirq_ns,steal_ns,idle_ns,"
                  "iowait_ns,nice_ns",
                  "file.pb,t,0,n,5,2,0,1,0,0,0,0,0,0,0",
                  "file.pb,t,0,n,5,2,3,2,3,4,5,6,7,8,1"));
}

TEST(CsvHostsTest, ControlGroupsHaveARowEachSecond) {
  const auto results = Sourced({ResultFromText(R"(
    traffic_config { name: "t" }
    resource_usage_logs {
      node_resources {
        key: "n"
        value {
          samples {
            end_timestamp_ns: 5 duration_ns: 2000000000
            groups {
              key: "a/0"
              value {
                cpu_ns: 1 system_cpu_ns: 2 throttled_ns: 3 memory_bytes: 4
                swap_bytes: 5 read_bytes: 6 written_bytes: 7
                read_operations: 8 write_operations: 9
                some_cpu_pressure_ns: 10 some_memory_pressure_ns: 11
                full_memory_pressure_ns: 12 some_io_pressure_ns: 13
                full_io_pressure_ns: 14
              }
            }
            groups { key: "" value { cpu_ns: 1 } }
          }
          samples { end_timestamp_ns: 9 }
        }
      }
    })")});
  EXPECT_THAT(
      CsvLines(Csv(results, "groups")),
      ElementsAre("source,test,repetition,node,end_timestamp_ns,duration_s,"
                  "instance,cpu_ns,system_cpu_ns,throttled_ns,memory_bytes,"
                  "swap_bytes,read_bytes,written_bytes,read_operations,"
                  "write_operations,some_cpu_pressure_ns,"
                  "some_memory_pressure_ns,full_memory_pressure_ns,"
                  "some_io_pressure_ns,full_io_pressure_ns",
                  "file.pb,t,0,n,5,2,,1,,,,,,,,,,,,,",
                  "file.pb,t,0,n,5,2,a/0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"));
}

TEST(CsvHostsTest, ConnectionsHaveARowEach) {
  const auto results = Sourced({ResultFromText(R"(
    traffic_config { name: "t" }
    resource_usage_logs {
      node_resources {
        key: "n"
        value {
          data_connections {
            instance: "client/0"
            local_address: "[::1]:1" peer_address: "[::1]:2"
            congestion_control: "bbr" uses_ecn: true sent_segments: 3
            retransmitted_segments: 4 congestion_marked_segments: 5
            min_rtt_ns: 6 mean_rtt_ns: 7 max_rtt_ns: 8
            min_congestion_window: 9 max_congestion_window: 10
            max_delivery_rate: 11
          }
          data_connections { local_address: "10.0.0.1:1" }
        }
      }
    })")});
  EXPECT_THAT(
      CsvLines(Csv(results, "connections")),
      ElementsAre("source,test,repetition,node,instance,local_address,"
                  "peer_address,congestion_control,uses_ecn,sent_segments,"
                  "retransmitted_segments,congestion_marked_segments,"
                  "min_rtt_ns,mean_rtt_ns,max_rtt_ns,min_congestion_window,"
                  "max_congestion_window,max_delivery_rate",
                  "file.pb,t,0,n,client/0,[::1]:1,[::1]:2,bbr,1,3,4,5,6,7,8,9,"
                  "10,11",
                  "file.pb,t,0,n,,10.0.0.1:1,,,0,0,0,0,,,,0,0,0"));
}

}  // namespace
}  // namespace distbench::report
