// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The common parts of the tests of ResourceSampler.

#ifndef DISTBENCH_NODE_TESTING_RESOURCE_SAMPLER_FIXTURE_H_
#define DISTBENCH_NODE_TESTING_RESOURCE_SAMPLER_FIXTURE_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/node/resource_sampler.h"
#include "distbench/numa/testing/fake_host.h"
#include "gtest/gtest.h"

namespace distbench::node {

inline constexpr int64_t kSecond = 1'000'000'000;

// A host with /proc and /sys files that the test writes.
class ResourceSamplerTest : public testing::Test {
 protected:
  ResourceSamplerTest() {
    SetHost(/*busy_ticks=*/1000, /*received_bytes=*/5000);
    Write("/proc/meminfo",
          "MemTotal:       16000 kB\n"
          "MemFree:         9000 kB\n"
          "MemAvailable:   12000 kB\n");
    Write("/proc/self/statm", "4000 25 10 1 0 90 0\n");
  }

  void Write(const std::string& path, const std::string& content) {
    host_.Write(path, content);
  }

  // Spreads busy_ticks over user, nice, system, irq and softirq.
  void SetHost(int64_t busy_ticks, int64_t received_bytes) {
    Write("/proc/stat",
          absl::StrCat("cpu  ", busy_ticks - 4, " 1 1 777777 99999 1 1 7 0 0\n",
                       "cpu0 1 2 3 4 5 6 7 8 9 10\n"));
    Write(
        "/proc/net/dev",
        absl::StrCat("Inter-|   Receive                  |  Transmit\n"
                     " face |bytes    packets errs drop fifo frame compressed "
                     "multicast|bytes    packets errs drop fifo colls carrier "
                     "compressed\n"
                     "    lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"
                     "  eth0:",
                     received_bytes, " 50 0 2 0 0 0 0 700 7 0 1 0 0 0 0\n"));
  }

  ResourceSampler::Options Options() {
    return {.clock = &clock_, .root = root_, .process_usage = [this] {
              return usage_;
            }};
  }

  const numa::FakeHost host_;
  const std::string root_ = host_.root();
  base::FakeClock clock_{100 * kSecond};
  RUsage usage_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TESTING_RESOURCE_SAMPLER_FIXTURE_H_
