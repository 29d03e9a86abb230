// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/antagonist_activities.h"

#include <cstdint>
#include <string>

#include "distbench/config/catalogs/settings.h"
#include "distbench/products/protection/antagonists/catalog.pb.h"

namespace distbench::protection {
namespace {

using config::CheckedSettings;

// Names a setting that another one makes useless.
void CheckIsUsed(const CheckedSettings& settings, const std::string& name,
                 bool is_used, const std::string& reason,
                 const std::string& remedy) {
  if (is_used || !settings.IsGiven(name)) return;
  settings.Add(name, "has no effect, because ", reason, "; remove it, or ",
               remedy);
}

void CheckCacheShare(const CheckedSettings& settings) {
  CheckIsUsed(settings, "cache_percent", settings.Number("bytes") == 0,
              "bytes gives the size", "remove bytes");
}

void CheckGrowMemory(const CheckedSettings& settings) {
  const int64_t bytes = settings.Number("bytes_per_iteration");
  const int64_t limit = settings.Number("limit_bytes");
  if (bytes > limit) {
    settings.Add("bytes_per_iteration", bytes, " is more than limit_bytes, ",
                 limit, "; make it smaller, or limit_bytes larger");
  }
  const bool touches = settings.Number("hot_percent") > 0;
  if (!touches && settings.Text("at_limit") == "keep") {
    settings.Add(
        "hot_percent",
        "is 0, so that at the limit iterations would have nothing to do; "
        "raise it, or set at_limit to \"restart\"");
  }
  CheckIsUsed(settings, "access", touches, "hot_percent is 0",
              "raise hot_percent");
}

void CheckCacheThrash(const CheckedSettings& settings) {
  CheckCacheShare(settings);
  CheckIsUsed(settings, "stride_bytes", settings.Text("order") == "strided",
              "the order is \"random\"", "use \"strided\"");
}

}  // namespace

config::ActivityDeclaration BurnCpuActivity() {
  return {.name = "BurnCpu", .complete = &config::CompleteBy<catalog::BurnCpu>};
}

config::ActivityDeclaration GrowMemoryActivity() {
  return {.name = "GrowMemory",
          .check = &CheckGrowMemory,
          .complete = &config::CompleteBy<catalog::GrowMemory>};
}

config::ActivityDeclaration MemoryBandwidthActivity() {
  return {.name = "MemoryBandwidth",
          .check = &CheckCacheShare,
          .complete = &config::CompleteBy<catalog::MemoryBandwidth>};
}

config::ActivityDeclaration CacheThrashActivity() {
  return {.name = "CacheThrash",
          .check = &CheckCacheThrash,
          .complete = &config::CompleteBy<catalog::CacheThrash>};
}

config::ActivityDeclaration ForkStormActivity() {
  return {.name = "ForkStorm",
          .complete = &config::CompleteBy<catalog::ForkStorm>};
}

}  // namespace distbench::protection
