// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/storage_sizing/storage_sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "distbench/config/catalogs/activity_catalog.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A host on which every answer is known.
struct Host {
  double hash_bytes_per_second = 1e9;
  double read_seconds = 0.002;  // from the disk
  double cpus = 4;
  double memory_bytes = 8e9;
  double noise = 0;  // standard deviation of the logarithm of a measurement

  double Pages(const StorageWork& work) const {
    return std::ceil(static_cast<double>(work.hash_bytes) /
                     config::kFilePageBytes);
  }

  double ServiceSeconds(const StorageWork& work) const {
    return Pages(work) * config::kFilePageBytes / hash_bytes_per_second;
  }

  double MissShare(const StorageWork& work) const {
    if (work.is_cold) return 1;
    return std::max(
        0.0, 1 - memory_bytes / static_cast<double>(work.footprint_bytes));
  }

  double Seconds(const SizingProbe& probe) const {
    const double service = ServiceSeconds(probe.work);
    const double reads = std::ceil(Pages(probe.work) /
                                   static_cast<double>(probe.work.chunk_pages));
    const double waiting = MissShare(probe.work) * reads * read_seconds;
    const double utilisation = probe.rate.value_or(0) * service / cpus;
    if (utilisation >= 1) return std::numeric_limits<double>::infinity();
    return service / (1 - utilisation) + waiting;
  }
};

search::Probe RunOn(const Host& host, const SizingProbe& probe,
                    std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double error = std::max(host.noise, 1e-4);
  return {.request = probe.request,
          .achieved_load = probe.request.load,
          .excess = std::log(host.Seconds(probe) / probe.limit_seconds) +
                    (host.noise > 0 ? host.noise * normal(random) : 0),
          .excess_error = error / std::sqrt(probe.request.length),
          .seconds = 10 * probe.request.length};
}

StorageSizes SizesOf(const Host& host, const SizingOptions& options,
                     uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  StorageSizing sizing(options);
  int probes = 0;
  while (const auto probe = sizing.Next()) {
    sizing.Add(RunOn(host, *probe, random));
    if (++probes > 4 * options.max_probes) {
      ADD_FAILURE() << "endless";
      break;
    }
  }
  return sizing.result();
}

// Half of the requests take a quarter of 75 ms, at 1e9 bytes per second. Reads
// may take the rest: 28 of 2 ms. A rate of three quarters of the capacity
// makes requests take four times as long.
TEST(StorageSizingTest, FindsWhatTheHostDoes) {
  const StorageSizes sizes = SizesOf(Host(), {.tolerance = 0.02});
  ASSERT_TRUE(sizes.is_complete());
  EXPECT_NEAR(*sizes.hash_bytes, 0.01875e9, 0.03 * 0.01875e9);

  const double service = static_cast<double>(*sizes.hash_bytes) / 1e9;
  const double pages = std::ceil(static_cast<double>(*sizes.hash_bytes) /
                                 config::kFilePageBytes);
  // A search that has to answer in whole numbers stays below the limit.
  const double reads = (0.075 - service) / 0.002;
  const double made_reads =
      std::ceil(pages / static_cast<double>(*sizes.chunk_pages));
  EXPECT_LE(made_reads, reads);
  EXPECT_GT(made_reads, reads - 2);

  const double max_rate = (1 - service / 0.075) * 4 / service;
  EXPECT_NEAR(*sizes.max_rate, max_rate, 0.03 * max_rate);

  const double utilisation = 0.9 * *sizes.max_rate * service / 4;
  const double misses =
      (0.075 - service / (1 - utilisation)) / (made_reads * 0.002);
  const double footprint = 8e9 / (1 - misses);
  EXPECT_NEAR(static_cast<double>(*sizes.footprint_bytes), footprint,
              0.04 * footprint);
}

// The answers differ by a few tolerances at most.
TEST(StorageSizingTest, NoiseChangesLittle) {
  const StorageSizes exact = SizesOf(Host(), {});
  ASSERT_TRUE(exact.is_complete());
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const StorageSizes noisy = SizesOf({.noise = 0.03}, {}, seed);
    ASSERT_TRUE(noisy.is_complete()) << seed;
    EXPECT_NEAR(std::log(static_cast<double>(*noisy.hash_bytes) /
                         static_cast<double>(*exact.hash_bytes)),
                0, 0.15);
    EXPECT_NEAR(std::log(*noisy.max_rate / *exact.max_rate), 0, 0.3);
  }
}

// Replaying the outcomes leads to the same next probe.
TEST(StorageSizingTest, ContinuesAfterItsProbes) {
  std::mt19937_64 random(1);
  StorageSizing sizing({});
  std::vector<search::Probe> outcomes;
  while (const auto probe = sizing.Next()) {
    StorageSizing resumed({});
    for (const search::Probe& outcome : outcomes) resumed.Add(outcome);
    ASSERT_TRUE(resumed.Next().has_value());
    EXPECT_EQ(resumed.Next()->phase, probe->phase);
    EXPECT_EQ(resumed.Next()->request.load, probe->request.load);
    EXPECT_EQ(resumed.Next()->work.hash_bytes, probe->work.hash_bytes);
    outcomes.push_back(RunOn(Host(), *probe, random));
    sizing.Add(outcomes.back());
  }
  EXPECT_TRUE(sizing.result().is_complete());
}

TEST(StorageSizingTest, PhasesDifferAsDocumented) {
  std::mt19937_64 random(1);
  const SizingOptions options;
  StorageSizing sizing(options);
  while (const auto probe = sizing.Next()) {
    const bool is_open = probe->phase == SizingPhase::kRate ||
                         probe->phase == SizingPhase::kFootprint;
    EXPECT_EQ(probe->rate.has_value(), is_open);
    EXPECT_EQ(probe->work.is_cold, probe->phase == SizingPhase::kChunk);
    if (probe->phase == SizingPhase::kHashSize) {
      EXPECT_EQ(probe->quantile, 0.5);
      EXPECT_DOUBLE_EQ(probe->limit_seconds, 0.25 * 0.075);
    } else {
      EXPECT_EQ(probe->quantile, 0.95);
      EXPECT_EQ(probe->limit_seconds, 0.075);
    }
    if (probe->phase == SizingPhase::kFootprint) {
      EXPECT_DOUBLE_EQ(*probe->rate, 0.9 * *sizing.result().max_rate);
    }
    EXPECT_GE(probe->work.footprint_bytes,
              probe->work.chunk_pages * config::kFilePageBytes);
    sizing.Add(RunOn(Host(), *probe, random));
  }
  EXPECT_EQ(sizing.result().answers.size(), 4u);
}

// So slow that a request with a single read misses.
TEST(StorageSizingTest, EndsWhereNothingMeets) {
  const StorageSizes sizes = SizesOf({.read_seconds = 0.2}, {});
  EXPECT_TRUE(sizes.hash_bytes.has_value());
  EXPECT_FALSE(sizes.chunk_pages.has_value());
  EXPECT_FALSE(sizes.is_complete());
  ASSERT_EQ(sizes.answers.size(), 2u);
  EXPECT_EQ(sizes.answers.back().phase, SizingPhase::kChunk);
  EXPECT_EQ(sizes.answers.back().search.verdict,
            search::SearchVerdict::kObjectiveUnreachable);
  EXPECT_THAT(Describe(sizes),
              HasSubstr("rps_max=? mem_actual=? chunk_pages=?"));
}

// A disk as fast as memory: single pages, and as much data as is tried.
TEST(StorageSizingTest, TheLimitsOfTheRangesAreAnswers) {
  const SizingOptions options = {.likely_footprint_bytes = int64_t{1} << 30,
                                 .max_footprint_bytes = int64_t{1} << 36};
  const StorageSizes sizes = SizesOf({.read_seconds = 1e-9}, options);
  ASSERT_TRUE(sizes.is_complete());
  EXPECT_EQ(*sizes.chunk_pages, 1);
  EXPECT_EQ(*sizes.footprint_bytes, int64_t{1} << 36);
}

TEST(StorageSizingTest, OnePageCannotBeDivided) {
  // A page takes 16 ms.
  const StorageSizes sizes = SizesOf({.hash_bytes_per_second = 256'000}, {});
  ASSERT_TRUE(sizes.is_complete()) << Describe(sizes);
  EXPECT_EQ(*sizes.chunk_pages, 1);
}

TEST(StorageSizingTest, DescribesSizesAsTheSeed) {
  StorageSizes sizes;
  sizes.hash_bytes = 1'258'291;
  sizes.max_rate = 1029.4;
  sizes.footprint_bytes = 17'287'244'186;
  sizes.chunk_pages = 25;
  EXPECT_EQ(Describe(sizes),
            "hash_size=1.2M rps_max=1029 mem_actual=16.1G chunk_pages=25");
}

TEST(StorageSizingTest, OptionsOutOfRangeAreNamed) {
  EXPECT_TRUE(CheckSizingOptions({}).ok());
  EXPECT_THAT(CheckSizingOptions({.quantile = 1}).message(),
              AllOf(HasSubstr("quantile: 1"), HasSubstr("between 0 and 1")));
  EXPECT_THAT(CheckSizingOptions({.quiet_share = NAN}).message(),
              HasSubstr("quiet_share"));
  EXPECT_THAT(CheckSizingOptions({.footprint_load = 1.5}).message(),
              HasSubstr("footprint_load"));
  EXPECT_THAT(CheckSizingOptions({.small_footprint_bytes = 1 << 30,
                                  .likely_footprint_bytes = 1 << 20})
                  .message(),
              HasSubstr("likely_footprint_bytes"));
  EXPECT_THAT(CheckSizingOptions({.max_probes = 0}).message(),
              HasSubstr("max_probes"));
}

}  // namespace
}  // namespace distbench::bench
