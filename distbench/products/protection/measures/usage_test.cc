#include "distbench/products/protection/measures/usage.h"

#include "distbench/base/time_units.h"
#include "distbench/report/testing/report_testing.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

TEST(ProtectionUsageTest, AddsUpGroupsByWorker) {
  const TestResult result = report::ResultFromText(R"(
    resource_usage_logs { node_resources { key: "n" value {
      samples {
        end_timestamp_ns: 11400000000 duration_ns: 1000000000
        groups { key: "" value { cpu_ns: 9000000000 } }
        groups { key: "server/0" value {
          cpu_ns: 500000000 memory_bytes: 10 some_memory_pressure_ns: 250000000
        } }
        groups { key: "server/1" value {
          cpu_ns: 250000000 memory_bytes: 20 some_memory_pressure_ns: 500000000
        } }
        groups { key: "antagonist_hog/0" value { swap_bytes: 7 } }
        host_counters { io_pressure_ns: 100000000 }
      }
      samples { end_timestamp_ns: 12000000000 duration_ns: 0 }
    } } })");
  const auto usage = UsageBySecond(result, base::kNsPerSecond);
  ASSERT_EQ(usage.size(), 1);
  // The middle of the sample is in second 10.
  const SecondUsage& second = usage.at(10);
  EXPECT_EQ(second.subject.cpus, 0.75);
  EXPECT_EQ(second.subject.memory_bytes, 30);
  EXPECT_EQ(second.subject.swap_bytes, std::nullopt);
  EXPECT_EQ(second.subject.pressure.memory, 0.5);
  EXPECT_EQ(second.subject.pressure.io, std::nullopt);
  EXPECT_EQ(second.antagonist.cpus, std::nullopt);
  EXPECT_EQ(second.antagonist.swap_bytes, 7);
  EXPECT_EQ(second.host_pressure.io, 0.1);
}

// As in an interval of two seconds, or if one of two samples was late.
TEST(ProtectionUsageTest, SeveralSamplesOfAnIntervalAreNotSeveralUses) {
  const TestResult result = report::ResultFromText(R"(
    resource_usage_logs { node_resources { key: "n" value {
      samples {
        end_timestamp_ns: 11000000000 duration_ns: 1000000000
        groups { key: "server/0" value {
          cpu_ns: 500000000 memory_bytes: 10 some_io_pressure_ns: 100000000
        } }
        host_counters { io_pressure_ns: 100000000 }
      }
      samples {
        end_timestamp_ns: 12000000000 duration_ns: 1000000000
        groups { key: "server/0" value {
          cpu_ns: 1000000000 memory_bytes: 30 some_io_pressure_ns: 300000000
        } }
        host_counters { io_pressure_ns: 500000000 }
      }
    } } })");
  const auto usage = UsageBySecond(result, 2 * base::kNsPerSecond);
  ASSERT_EQ(usage.size(), 1);
  const SecondUsage& interval = usage.at(5);
  EXPECT_EQ(interval.subject.cpus, 0.75);
  EXPECT_EQ(interval.subject.memory_bytes, 30);
  EXPECT_EQ(interval.subject.pressure.io, 0.2);
  EXPECT_EQ(interval.host_pressure.io, 0.3);
}

}  // namespace
}  // namespace distbench::protection
