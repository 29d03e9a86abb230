// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/reports/job_reports.h"

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/bench/files/tarball.h"
#include "distbench/products/bench/kinds/values.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

BenchFile Example() {
  BenchFile file;
  file.add_jobs()->set_kind("run");
  for (const char* id : {"off", "on"}) {
    BenchJob& job = *file.add_jobs();
    job.set_kind("protection");
    job.set_id(id);
  }
  return file;
}

std::vector<std::string> Selected(std::vector<std::string> selectors) {
  const BenchFile file = Example();
  const auto jobs = SelectJobs(file, selectors);
  std::vector<std::string> names;
  if (!jobs.ok()) return {base::Message(jobs.status())};
  for (const BenchJob* job : *jobs) names.push_back(job->kind() + job->id());
  return names;
}

TEST(JobSelectionTest, NamesNumbersAndIdsSelect) {
  EXPECT_THAT(Selected({}),
              ElementsAre("run", "protectionoff", "protectionon"));
  EXPECT_THAT(Selected({"protection"}),
              ElementsAre("protectionoff", "protectionon"));
  EXPECT_THAT(Selected({"protection:id=on"}), ElementsAre("protectionon"));
  EXPECT_THAT(Selected({"3", "1"}), ElementsAre("run", "protectionon"));
}

TEST(JobSelectionTest, WhatSelectsNothingIsAnError) {
  EXPECT_THAT(Selected({"protecton"}),
              ElementsAre(HasSubstr("the file has no job \"protecton\"")));
  EXPECT_THAT(Selected({"4"}), ElementsAre(HasSubstr("has no job \"4\"")));
  EXPECT_THAT(Selected({"protection:id=of"}),
              ElementsAre(HasSubstr("did you mean \"protection:id=of")));
  EXPECT_THAT(Selected({"protection:full"}),
              ElementsAre(HasSubstr("KIND:id=ID")));
}

// The disk of the seed's session, with io.cost on.
constexpr char kSystem[] = R"pb(
  hostname: "host1"
  kernel: "5.6.13-0_fbk16_5756_gdcbe47195163"
  cpu_count: 36
  memory_bytes: 68612157440
  swap_bytes: 34359738368
  swappiness: 60
  is_zswap_enabled: true
  devices {
    name: "nvme0n1"
    number: "259:0"
    model: "WDC CL SN720 SDAQNTW-512G-1020"
    firmware: "10105120"
    size_bytes: 512110190592
    scheduler: "none"
    write_back_throttling_us: 0
    io_cost {
      device: "259:0"
      enable: true
      model {
        rbps: 1348822120
        rseqiops: 235687
        rrandiops: 218614
        wbps: 601694170
        wseqiops: 133453
        wrandiops: 69308
      }
      qos { rpct: 95 rlat: 19562 wpct: 95 wlat: 65667 min: 60 max: 100 }
    }
  }
)pb";

int64_t At(const std::string& time) {
  absl::Time parsed;
  std::string error;
  EXPECT_TRUE(absl::ParseTime("%Y-%m-%d %H:%M:%S", time, absl::UTCTimeZone(),
                              &parsed, &error))
      << error;
  return absl::ToUnixNanos(parsed);
}

BenchJob IoCostParams() {
  BenchJob job;
  job.set_kind("iocost-params");
  job.set_state(BenchJob::DONE);
  job.set_start_timestamp_ns(At("2021-06-22 19:31:00"));
  job.set_end_timestamp_ns(At("2021-06-22 19:38:53"));
  *job.add_systems() = base::FromText<BenchSystem>(kSystem);
  AddIoCost(job.systems(0).devices(0).io_cost(), *job.mutable_outcome());
  return job;
}

std::string Text(const BenchJob& job) {
  return JobText(job, absl::UTCTimeZone());
}

TEST(JobTextTest, TheHeaderHasTheFormOfTheManual) {
  BenchJob job;
  job.set_kind("protection");
  job.set_id("iocost-on");
  job.add_passive("io");
  job.set_start_timestamp_ns(At("2021-06-22 19:38:53"));
  job.set_end_timestamp_ns(At("2021-06-22 20:02:27"));
  *job.add_systems() = base::FromText<BenchSystem>(kSystem);
  EXPECT_EQ(JobHeader(job, absl::UTCTimeZone()),
            R"([protection result] "iocost-on" 2021-06-22 19:38:53 - 20:02:27

System info: kernel="5.6.13-0_fbk16_5756_gdcbe47195163"
             nr_cpus=36 memory=63.9G swap=32.0G swappiness=60 zswap
             passive=io

IO info: dev=nvme0n1(259:0) model="WDC CL SN720 SDAQNTW-512G-1020" firmware="10105120" size=477G
         iosched=none wbt=off iocost=on other=off
         iocost model: rbps=1348822120 rseqiops=235687 rrandiops=218614
                       wbps=601694170 wseqiops=133453 wrandiops=69308
         iocost QoS: rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 min=60.00 max=100.00
)");
}

TEST(JobTextTest, ADeviceWithoutIoCostSaysSo) {
  BenchJob job = IoCostParams();
  job.mutable_systems(0)->mutable_devices(0)->clear_io_cost();
  job.mutable_systems(0)->mutable_devices(0)->add_other_controllers("io.max");
  EXPECT_THAT(JobHeader(job, absl::UTCTimeZone()),
              HasSubstr("wbt=off iocost=off other=io.max\n"));
}

TEST(JobTextTest, ADateIsGivenWhereItChanges) {
  BenchJob job = IoCostParams();
  job.set_end_timestamp_ns(At("2021-06-23 00:10:00"));
  EXPECT_THAT(Text(job),
              HasSubstr("2021-06-22 19:31:00 - 2021-06-23 00:10:00\n"));
}

TEST(JobTextTest, TheResultOfIoCostParamsIsAsTheKernelReadsIt) {
  EXPECT_THAT(
      Text(IoCostParams()),
      HasSubstr("\niocost model: rbps=1348822120 rseqiops=235687 "
                "rrandiops=218614\n"
                "              wbps=601694170 wseqiops=133453 "
                "wrandiops=69308\n"
                "iocost QoS: rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 "
                "min=60.00 max=100.00\n"));
}

TEST(JobTextTest, TheResultOfHashdParamsIsThatOfTheManual) {
  BenchJob job;
  job.set_kind("hashd-params");
  job.set_state(BenchJob::DONE);
  StorageSizes sizes;
  sizes.hash_bytes = 1258291;
  sizes.max_rate = 1029;
  sizes.footprint_bytes = 17287243367;
  sizes.chunk_pages = 25;
  AddStorageSizes(sizes, *job.mutable_outcome());
  AddNumber("log_bps", 1 << 20, *job.mutable_parameters(), "bytes");
  EXPECT_THAT(Text(job),
              HasSubstr("\nParams: log_bps=1.0M\n\nResult: hash_size=1.2M "
                        "rps_max=1029 mem_actual=16.1G chunk_pages=25\n"));
}

TEST(JobTextTest, MissedRequirementsAreListed) {
  BenchJob job = IoCostParams();
  job.add_missed_requirements("there is no swap");
  job.add_missed_requirements("zswap is on");
  EXPECT_THAT(Text(job), HasSubstr("\nMissed requirements: there is no swap\n"
                                   "                     zswap is on\n"));
}

TEST(JobTextTest, WhereAValueCameFromIsSaid) {
  BenchJob from = IoCostParams();
  from.set_id("nvme");
  BenchJob job = IoCostParams();
  AddTaken(from, from.outcome(0), *job.mutable_parameters());
  EXPECT_THAT(Text(job), HasSubstr("Params: device=259:0 (from iocost-params "
                                   "\"nvme\")\n"));
}

TEST(JobTextTest, AJobWithoutAResultSaysWhy) {
  BenchJob job = IoCostParams();
  job.set_state(BenchJob::CUT_SHORT);
  EXPECT_THAT(Text(job), HasSubstr("No result: the job was cut short\n"));
  job.set_state(BenchJob::FAILED);
  job.set_error("no space");
  EXPECT_THAT(Text(job), HasSubstr("No result: the job failed: no space\n"));
  EXPECT_THAT(Text(job), Not(HasSubstr("iocost model: rbps=1348822120\n")));
}

TEST(JobTextTest, AnUnknownKindIsNamed) {
  BenchJob job = IoCostParams();
  job.set_kind("iocost-parms");
  EXPECT_THAT(Text(job), HasSubstr("no kind of job is named"));
}

TEST(ListTextTest, HasALineForEachJob) {
  BenchFile file;
  *file.add_jobs() = IoCostParams();
  BenchJob& job = *file.add_jobs();
  job = IoCostParams();
  job.set_id("x");
  job.set_repetition(1);
  job.set_state(BenchJob::FAILED);
  job.clear_end_timestamp_ns();
  EXPECT_EQ(
      ListText(file, absl::UTCTimeZone()),
      "  1  done       2021-06-22 19:31:00 - 19:38:53  iocost-params\n"
      "  2  failed     2021-06-22 19:31:00 - ?  iocost-params \"x\" #2\n");
}

TEST(SummaryTextTest, JobsThatCanBeComparedAreTogether) {
  BenchFile file;
  *file.add_jobs() = IoCostParams();
  BenchJob& failed = *file.add_jobs();
  failed.set_kind("run");
  failed.set_state(BenchJob::FAILED);
  failed.set_error("broken");
  BenchJob& again = *file.add_jobs();
  again = IoCostParams();
  again.set_repetition(1);
  again.set_origin("b.pb");
  EXPECT_EQ(SummaryText(file),
            "iocost-params\n"
            "  iocost QoS: rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 "
            "min=60.00 max=100.00\n"
            "iocost-params #2 from b.pb\n"
            "  iocost QoS: rpct=95.00 rlat=19562 wpct=95.00 wlat=65667 "
            "min=60.00 max=100.00\n"
            "run\n"
            "  failed: broken\n");
}

TEST(PackedJobsTest, EachJobHasItsFolder) {
  BenchFile file;
  *file.add_jobs() = IoCostParams();
  BenchJob& job = *file.add_jobs();
  job.set_kind("run");
  job.set_id("x");
  job.mutable_tests()->add_tests()->set_name("t");
  job.mutable_results()->add_test_results();
  const auto packed = PackedJobs(file, "name", absl::UTCTimeZone());
  ASSERT_TRUE(packed.ok()) << packed.status();
  std::vector<std::string> names;
  for (const PackedFile& one : *packed) names.push_back(one.name);
  EXPECT_THAT(
      names,
      ElementsAre("name/bench.pb", "name/01_iocost-params/report.txt",
                  "name/01_iocost-params/systems.txt",
                  "name/02_run_x/report.txt", "name/02_run_x/systems.txt",
                  "name/02_run_x/tests.config", "name/02_run_x/results.pb",
                  "name/report.txt"));
  EXPECT_THAT(packed->back().bytes, HasSubstr("[iocost-params result]"));
  EXPECT_THAT(packed->back().bytes, HasSubstr("[run result] \"x\""));
}

}  // namespace
}  // namespace distbench::bench
