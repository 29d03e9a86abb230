// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/network_readings.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/syntax/instance_names.h"

namespace distbench::report {
namespace {

using Side = std::pair<std::string, bool>;  // service, accepted

std::string KeyOf(const NetworkSettingProof& proof) {
  std::string key;
  for (const NetworkSettingReading& reading : proof.settings()) {
    absl::StrAppend(&key, reading.name(), "\n", reading.asked(), "\n",
                    reading.found(), "\n", reading.differs(), "\n");
  }
  return key;
}

std::string Describe(const NetworkSettingReading& reading) {
  std::string text = absl::StrCat(reading.name(), " ", reading.found());
  if (reading.differs()) {
    absl::StrAppend(&text, " (asked: ", reading.asked(), ")");
  }
  return text;
}

}  // namespace

std::vector<ServiceConnections> FoldNetworkSettings(const TestResult& result) {
  std::map<Side, std::map<std::string, ServiceConnections>> sides;
  std::map<Side, int64_t> totals;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const std::string service = config::ServiceOf(instance);
    for (const NetworkSettingProof& proof : log.network_settings()) {
      const Side side = {service, proof.accepted()};
      const auto [entry, is_new] = sides[side].try_emplace(KeyOf(proof));
      ServiceConnections& folded = entry->second;
      if (is_new) {
        folded.service = service;
        folded.connections = proof;
        folded.connections.set_connection_count(0);
        folded.differs = std::any_of(
            proof.settings().begin(), proof.settings().end(),
            [](const NetworkSettingReading& one) { return one.differs(); });
      }
      int64_t count = folded.connections.connection_count();
      base::SaturatingAddTo(count, proof.connection_count());
      folded.connections.set_connection_count(count);
      base::SaturatingAddTo(totals[side], proof.connection_count());
    }
  }
  std::vector<ServiceConnections> all;
  for (auto& [side, by_key] : sides) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (auto& [key, folded] : by_key) {
      folded.total_count = totals[side];
      all.push_back(std::move(folded));
    }
    std::stable_sort(
        all.begin() + first, all.end(),
        [](const ServiceConnections& a, const ServiceConnections& b) {
          return a.connections.connection_count() >
                 b.connections.connection_count();
        });
  }
  return all;
}

std::string Describe(const ServiceConnections& folded) {
  const NetworkSettingProof& proof = folded.connections;
  const int64_t count = proof.connection_count();
  const bool is_all = count == folded.total_count;
  return absl::StrCat(
      is_all ? absl::StrCat("all ", count)
             : absl::StrCat(count, " of ", folded.total_count),
      " connections that ", folded.service,
      proof.accepted() ? " accepted: " : " made: ",
      absl::StrJoin(proof.settings(), ", ",
                    [](std::string* out, const NetworkSettingReading& reading) {
                      out->append(Describe(reading));
                    }));
}

}  // namespace distbench::report
