// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Finds how much work a storage service does within its objective on an idle
// host: the counterpart of resctl-bench's hashd-params. The subjects of later
// experiments then load a host to a known degree.
//
//   StorageSizing sizing(options);
//   while (auto probe = sizing.Next()) sizing.Add(RunProbe(*probe));
//   sizing.result()
//
// The sizing knows nothing about how a probe runs. It is a function of the
// outcomes of its probes, so that one that was cut short continues once they
// have been added again. It consists of four searches, one after the other:
//
//   hash size    CPU time: the most bytes that a request may hash so that, one
//                at a time and with all data in memory, half of the requests
//                take no more than a given share of the objective's limit.
//   chunk        The disk: the most reads into which a request may divide its
//                bytes so that requests, one at a time, meet the objective
//                although all their data comes from the disk.
//   rate         The most requests per second that meet the objective with all
//                data in memory.
//   footprint    The most data (files and memory) with which a share of that
//                rate meets the objective.

#ifndef DISTBENCH_PRODUCTS_BENCH_STORAGE_SIZING_STORAGE_SIZING_H_
#define DISTBENCH_PRODUCTS_BENCH_STORAGE_SIZING_STORAGE_SIZING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/search/strategy/load_search.h"

namespace distbench::bench {

enum class SizingPhase { kHashSize, kChunk, kRate, kFootprint };
absl::string_view ToString(SizingPhase phase);

struct SizingOptions {
  // The longest time that a request may take, in seconds, and the share of the
  // requests for which that holds.
  double limit_seconds = 0.075;
  double quantile = 0.95;

  // The share of limit_seconds that half of the requests may take while there
  // is one at a time. Between 0 and 1.
  double quiet_share = 0.25;

  // The share of the highest rate at which the footprint is found. Above 0, at
  // most 1.
  double footprint_load = 0.9;

  // Data of probes with all data in memory, the first guess at the footprint
  // (such as the host's available memory), and the largest to try. Each must be
  // at most the next one.
  int64_t small_footprint_bytes = int64_t{16} << 20;
  int64_t likely_footprint_bytes = int64_t{1} << 30;
  int64_t max_footprint_bytes = int64_t{1} << 40;

  // The relative accuracy of each answer, from 0.001 to 0.5.
  double tolerance = 0.05;

  // Of each of the four searches.
  int max_probes = 25;
};

// INVALID_ARGUMENT names the option that is out of range, and its range.
absl::Status CheckSizingOptions(const SizingOptions& options);

// What the service does in a probe.
struct StorageWork {
  int64_t hash_bytes = 0;       // per request
  int64_t chunk_pages = 1;      // of 4096 bytes; read at a time
  int64_t footprint_bytes = 0;  // files and memory together

  // All data comes from the disk (direct I/O).
  bool is_cold = false;
};

struct SizingProbe {
  SizingPhase phase = SizingPhase::kHashSize;
  StorageWork work;

  // Requests per second, in an open loop; absent: one request at a time.
  std::optional<double> rate;

  // The condition of the phase: this share of the requests takes at most so
  // long. Outcomes are relative to it.
  double quantile = 0;
  double limit_seconds = 0;

  // For the outcome, and how long the probe lasts.
  search::ProbeRequest request;
};

// The answer of one of the searches.
struct SizingAnswer {
  SizingPhase phase = SizingPhase::kHashSize;
  search::SearchResult search;
  int probe_count = 0;
};

struct StorageSizes {
  // Absent where a search found nothing, and in all later ones.
  std::optional<int64_t> hash_bytes;
  std::optional<int64_t> chunk_pages;
  std::optional<double> max_rate;  // requests per second
  std::optional<int64_t> footprint_bytes;

  // Of the searches that ended, in their order.
  std::vector<SizingAnswer> answers;

  bool is_complete() const { return footprint_bytes.has_value(); }
};

class StorageSizing {
 public:
  // Requires that CheckSizingOptions() succeeds.
  explicit StorageSizing(const SizingOptions& options);

  // The probe to run next; absent once there is a result.
  std::optional<SizingProbe> Next() const;

  // Adds the outcome of Next(): as in a load search, how far the requests were
  // from their condition.
  void Add(const search::Probe& outcome);

  // What is known so far; if Next() is absent, the result.
  const StorageSizes& result() const { return sizes_; }

 private:
  void StartSearch(SizingPhase phase);
  search::SearchOptions OptionsOf(SizingPhase phase) const;
  StorageWork WorkAt(double load) const;
  bool Accept(const search::SearchResult& result);
  int64_t HashPages() const;

  const SizingOptions options_;
  SizingPhase phase_ = SizingPhase::kHashSize;
  std::optional<search::LoadSearch> search_;
  int probe_count_ = 0;
  StorageSizes sizes_;
};

// The sizes in the form of resctl-bench, with the units K, M, G and T for
// powers of 1024: "hash_size=1.2M rps_max=1029 mem_actual=16.1G
// chunk_pages=25". "?" stands for what was not found.
std::string Describe(const StorageSizes& sizes);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_STORAGE_SIZING_STORAGE_SIZING_H_
