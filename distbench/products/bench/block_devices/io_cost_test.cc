// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/block_devices/io_cost.h"

#include <cmath>
#include <queue>
#include <random>

#include "distbench/base/testing/status_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A device that serves one operation after the other, each in a time that
// depends on its kind and size only: simulated, with as many operations in the
// queue as the phase allows.
struct FakeDevice {
  double seek_ns = 4000;           // of a random operation
  double overhead_ns = 1000;       // of any
  double read_ns_per_byte = 0.5;   // 2 GB/s
  double write_ns_per_byte = 1.0;  // 1 GB/s

  double ServiceNs(const IoPhase& phase, bool is_write) const {
    return overhead_ns + (phase.is_random ? seek_ns : 0) +
           phase.block_bytes *
               (is_write ? write_ns_per_byte : read_ns_per_byte);
  }

  IoPhaseRecord Run(const IoPhase& phase) const {
    stats::LogHistogram read_ns;
    stats::LogHistogram write_ns;
    const double end_ns = absl::ToDoubleNanoseconds(phase.duration);
    const double interval_r = phase.read_rate > 0 ? 1e9 / phase.read_rate : 0;
    const double interval_w = phase.write_rate > 0 ? 1e9 / phase.write_rate : 0;
    double due_r = 0;
    double due_w = 0;
    double device_free_ns = 0;
    std::queue<double> ends;  // of the operations in the queue
    while (true) {
      const bool is_write =
          phase.write_rate != 0 && (phase.read_rate == 0 || due_w < due_r);
      double start = is_write ? due_w : due_r;
      (is_write ? due_w : due_r) += is_write ? interval_w : interval_r;
      if (static_cast<int>(ends.size()) == phase.queue_depth) {
        start = std::max(start, ends.front());
        ends.pop();
      }
      if (start >= end_ns) break;
      device_free_ns =
          std::max(device_free_ns, start) + ServiceNs(phase, is_write);
      ends.push(device_free_ns);
      if (device_free_ns >= end_ns) continue;
      (is_write ? write_ns : read_ns).Record(device_free_ns - start);
    }
    IoPhaseRecord record;
    record.set_name(phase.name);
    record.set_block_bytes(phase.block_bytes);
    record.set_duration_ns(absl::ToInt64Nanoseconds(phase.duration));
    if (phase.read_rate > 0) record.set_wanted_read_rate(phase.read_rate);
    if (phase.write_rate > 0) record.set_wanted_write_rate(phase.write_rate);
    results::EncodeHistogram(read_ns, *record.mutable_read_ns());
    results::EncodeHistogram(write_ns, *record.mutable_write_ns());
    return record;
  }
};

IoCostMeasurementOptions Options() {
  IoCostMeasurementOptions options;
  options.runtime = absl::Seconds(1);
  options.queue_depth = 8;
  return options;
}

absl::StatusOr<IoPhaseRecords> Measure(const FakeDevice& device) {
  IoPhaseRecords records;
  const absl::Status status = MeasureIoCost(
      Options(),
      [&](const IoPhase& phase) -> absl::StatusOr<IoPhaseRecord> {
        return device.Run(phase);
      },
      [](const IoPhaseRecord&) { return absl::OkStatus(); }, records);
  if (!status.ok()) return status;
  return records;
}

void ExpectNear(int64_t value, double expected) {
  EXPECT_NEAR(static_cast<double>(value), expected, 0.001 * expected);
}

TEST(IoCostMeasurementTest, KnownServiceTimesGiveTheKnownCoefficients) {
  const auto records = Measure(FakeDevice());
  ASSERT_TRUE(records.ok()) << records.status();
  const auto model = ModelFrom(*records);
  ASSERT_TRUE(model.ok()) << model.status();
  const double large = 1 << 20;
  ExpectNear(model->rbps(), large * 1e9 / (1000 + large * 0.5));
  ExpectNear(model->wbps(), large * 1e9 / (1000 + large * 1.0));
  ExpectNear(model->rseqiops(), 1e9 / (1000 + 2048));
  ExpectNear(model->rrandiops(), 1e9 / (5000 + 2048));
  ExpectNear(model->wseqiops(), 1e9 / (1000 + 4096));
  ExpectNear(model->wrandiops(), 1e9 / (5000 + 4096));
}

// The device's costs add up, as the model assumes: it carries the whole mixed
// load, and an operation waits for one of the other kind at most.
TEST(IoCostMeasurementTest, ADeviceAsItsModelMayNotBeSlowedDown) {
  const auto records = Measure(FakeDevice());
  ASSERT_TRUE(records.ok()) << records.status();
  const auto qos = QosFrom(*records, 95);
  ASSERT_TRUE(qos.ok()) << qos.status();
  EXPECT_EQ(qos->rpct(), 95);
  EXPECT_EQ(qos->wpct(), 95);
  EXPECT_NEAR(qos->min(), 100, 0.5);
  EXPECT_EQ(qos->max(), 100);
  EXPECT_GE(qos->rlat(), 8);  // its own service time
  EXPECT_LE(qos->rlat(), 8 * 10);
  EXPECT_GE(qos->wlat(), 10);
}

// Mixing makes every operation take twice its time: half of the load is done.
TEST(IoCostMeasurementTest, TheRangeIsWhatTheDeviceCarries) {
  const FakeDevice device;
  IoPhaseRecords records;
  const absl::Status status = MeasureIoCost(
      Options(),
      [&](const IoPhase& phase) -> absl::StatusOr<IoPhaseRecord> {
        FakeDevice current = device;
        if (phase.name == "mixed") {
          current.seek_ns *= 2;
          current.overhead_ns *= 2;
          current.read_ns_per_byte *= 2;
          current.write_ns_per_byte *= 2;
        }
        return current.Run(phase);
      },
      [](const IoPhaseRecord&) { return absl::OkStatus(); }, records);
  ASSERT_TRUE(status.ok()) << status;
  const auto qos = QosFrom(records, 95);
  ASSERT_TRUE(qos.ok()) << qos.status();
  EXPECT_NEAR(qos->min(), 50, 1);
  // Eight operations of about 8 us each, doubled, in the queue.
  EXPECT_NEAR(static_cast<double>(qos->rlat()), 8 * 16, 20);
}

TEST(IoCostMeasurementTest, GoesOnAfterThePhasesThatAreDone) {
  const FakeDevice device;
  IoPhaseRecords records;
  std::vector<std::string> names;
  const auto run = [&](const IoPhase& phase) -> absl::StatusOr<IoPhaseRecord> {
    names.push_back(phase.name);
    return device.Run(phase);
  };
  int left = 2;
  const auto observe = [&](const IoPhaseRecord&) {
    return --left == 0 ? absl::CancelledError("enough") : absl::OkStatus();
  };
  EXPECT_TRUE(
      absl::IsCancelled(MeasureIoCost(Options(), run, observe, records)));
  EXPECT_EQ(records.size(), 2);
  EXPECT_TRUE(MeasureIoCost(Options(), run, observe, records).ok());
  EXPECT_THAT(names, ElementsAre("rbps", "rseqiops", "rrandiops", "wbps",
                                 "wseqiops", "wrandiops", "mixed"));
}

TEST(IoCostMeasurementTest, APhaseThatCountedNothingIsAnError) {
  auto records = Measure(FakeDevice());
  ASSERT_TRUE(records.ok()) << records.status();
  (*records)[1].clear_read_ns();
  results::EncodeHistogram(stats::LogHistogram(),
                           *(*records)[1].mutable_read_ns());
  EXPECT_THAT(base::Message(ModelFrom(*records).status()),
              HasSubstr("in the phase rseqiops, no read ended"));
  for (const double wrong : {0.0, 100.0, -1.0, std::nan("")}) {
    EXPECT_FALSE(QosFrom(*records, wrong).ok()) << wrong;
  }
  (*records)[6].clear_wanted_read_rate();
  EXPECT_FALSE(QosFrom(*records, 95).ok());
  EXPECT_THAT(base::Message(ModelFrom({}).status()),
              HasSubstr("was not measured"));
}

TEST(IoCostMeasurementTest, APhaseThatMeasuredTheCpusSaysSo) {
  IoPhaseRecords records;
  IoPhaseRecord& record = *records.Add();
  record.set_name("rseqiops");
  record.set_duration_ns(1'000'000);
  record.set_cpu_count(2);
  record.set_cpu_ns(1'700'000);
  EXPECT_THAT(CpuBoundPhases(records), IsEmpty());
  record.set_cpu_ns(1'900'000);
  EXPECT_THAT(CpuBoundPhases(records),
              ElementsAre(HasSubstr("rseqiops used 95 %")));
}

TEST(IoCostTextTest, IsAsTheKernelReadsIt) {
  const auto model = ParseIoCostModel(
      "ctrl=user model=linear rbps=1348822120 rseqiops=235687 rrandiops=218614 "
      "wbps=601694170 wseqiops=133453 wrandiops=69308");
  const auto qos = ParseIoCostQos(
      "enable=1 ctrl=user rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 "
      "min=60.00 max=100.00");
  EXPECT_EQ(IoCostText(model, qos, ""),
            "iocost model: rbps=1348822120 rseqiops=235687 rrandiops=218614\n"
            "              wbps=601694170 wseqiops=133453 wrandiops=69308\n"
            "iocost QoS: rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 "
            "min=60.00 max=100.00\n");
}

TEST(IoCostTextTest, AnySettingsAreReadOrLeftOut) {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"rbps", "=", " ", "rlat", "1e9",
                                           "-",    "x", "=", "99",   "\n"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (int i = random() % 8; i > 0; --i) {
      text += pieces[random() % pieces.size()];
    }
    (void)ParseIoCostModel(text);
    (void)ParseIoCostQos(text);
  }
  EXPECT_FALSE(ParseIoCostModel("rbps=x").has_rbps());
}

}  // namespace
}  // namespace distbench::bench
