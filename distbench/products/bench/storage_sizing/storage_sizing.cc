// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/storage_sizing/storage_sizing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/human_units.h"
#include "distbench/config/catalogs/activity_catalog.h"

namespace distbench::bench {
namespace {

// The range of Storage's setting hash_bytes, and a usual request.
constexpr double kMinHashBytes = config::kFilePageBytes;
constexpr double kMaxHashBytes = 1 << 30;
constexpr double kUsualHashBytes = 1 << 20;

constexpr double kMinRate = 0.001;
constexpr double kMaxRate = 1e9;

constexpr double kMedian = 0.5;

absl::Status OutOfRange(absl::string_view option, double value,
                        absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": ", value, " is out of range; must be ", range));
}

std::optional<SizingPhase> After(SizingPhase phase) {
  switch (phase) {
    case SizingPhase::kHashSize:
      return SizingPhase::kChunk;
    case SizingPhase::kChunk:
      return SizingPhase::kRate;
    case SizingPhase::kRate:
      return SizingPhase::kFootprint;
    case SizingPhase::kFootprint:
      break;
  }
  return std::nullopt;
}

// The pages of each read if a request divides its pages into so many.
int64_t PagesOfRead(int64_t pages, double reads) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(pages) / reads));
}

std::string ByteText(const std::optional<int64_t>& bytes) {
  return bytes ? base::ShortBytes(static_cast<double>(*bytes)) : "?";
}

}  // namespace

absl::string_view ToString(SizingPhase phase) {
  switch (phase) {
    case SizingPhase::kHashSize:
      return "hash_size";
    case SizingPhase::kChunk:
      return "chunk";
    case SizingPhase::kRate:
      return "rate";
    case SizingPhase::kFootprint:
      break;
  }
  return "footprint";
}

absl::Status CheckSizingOptions(const SizingOptions& options) {
  // Negated, so that NaN is out of range.
  if (!(options.limit_seconds > 0 && std::isfinite(options.limit_seconds))) {
    return OutOfRange("limit_seconds", options.limit_seconds, "above 0");
  }
  if (!(options.quantile > 0 && options.quantile < 1)) {
    return OutOfRange("quantile", options.quantile, "between 0 and 1");
  }
  if (!(options.quiet_share > 0 && options.quiet_share < 1)) {
    return OutOfRange("quiet_share", options.quiet_share, "between 0 and 1");
  }
  if (!(options.footprint_load > 0 && options.footprint_load <= 1)) {
    return OutOfRange("footprint_load", options.footprint_load,
                      "above 0 and at most 1");
  }
  if (!(options.tolerance >= search::kMinSearchTolerance &&
        options.tolerance <= search::kMaxSearchTolerance)) {
    return OutOfRange("tolerance", options.tolerance, "from 0.001 to 0.5");
  }
  if (options.max_probes < search::kMinSearchProbes ||
      options.max_probes > search::kMaxSearchProbes) {
    return OutOfRange("max_probes", options.max_probes, "from 3 to 1000");
  }
  if (options.small_footprint_bytes < config::kFilePageBytes) {
    return OutOfRange("small_footprint_bytes",
                      static_cast<double>(options.small_footprint_bytes),
                      "at least 4096");
  }
  if (options.likely_footprint_bytes < options.small_footprint_bytes) {
    return OutOfRange("likely_footprint_bytes",
                      static_cast<double>(options.likely_footprint_bytes),
                      "at least small_footprint_bytes");
  }
  if (options.max_footprint_bytes < options.likely_footprint_bytes) {
    return OutOfRange("max_footprint_bytes",
                      static_cast<double>(options.max_footprint_bytes),
                      "at least likely_footprint_bytes");
  }
  return absl::OkStatus();
}

StorageSizing::StorageSizing(const SizingOptions& options) : options_(options) {
  StartSearch(SizingPhase::kHashSize);
}

int64_t StorageSizing::HashPages() const {
  return (sizes_.hash_bytes.value_or(config::kFilePageBytes) +
          config::kFilePageBytes - 1) /
         config::kFilePageBytes;
}

void StorageSizing::StartSearch(SizingPhase phase) {
  phase_ = phase;
  probe_count_ = 0;
  search_.emplace(OptionsOf(phase));
}

search::SearchOptions StorageSizing::OptionsOf(SizingPhase phase) const {
  search::SearchOptions options;
  options.tolerance = options_.tolerance;
  options.max_probes = options_.max_probes;
  switch (phase) {
    case SizingPhase::kHashSize:
      options.initial_load = kUsualHashBytes;
      options.min_load = kMinHashBytes;
      options.max_load = kMaxHashBytes;
      break;
    case SizingPhase::kChunk:
      options.initial_load = 1;
      options.min_load = 1;
      options.max_load = static_cast<double>(HashPages());
      options.is_whole = true;
      break;
    case SizingPhase::kRate:
      // That of one request after the other.
      options.initial_load =
          std::clamp(1 / (options_.quiet_share * options_.limit_seconds),
                     kMinRate, kMaxRate);
      options.min_load = kMinRate;
      options.max_load = kMaxRate;
      break;
    case SizingPhase::kFootprint:
      options.initial_load =
          static_cast<double>(options_.likely_footprint_bytes);
      options.min_load = static_cast<double>(options_.small_footprint_bytes);
      options.max_load = static_cast<double>(options_.max_footprint_bytes);
      break;
  }
  return options;
}

StorageWork StorageSizing::WorkAt(double load) const {
  StorageWork work = {.hash_bytes = sizes_.hash_bytes.value_or(0),
                      .chunk_pages = sizes_.chunk_pages.value_or(HashPages()),
                      .footprint_bytes = options_.small_footprint_bytes};
  switch (phase_) {
    case SizingPhase::kHashSize:
      work.hash_bytes = std::llround(load);
      work.chunk_pages = (work.hash_bytes + config::kFilePageBytes - 1) /
                         config::kFilePageBytes;
      break;
    case SizingPhase::kChunk:
      work.chunk_pages = PagesOfRead(HashPages(), load);
      work.is_cold = true;
      break;
    case SizingPhase::kRate:
      break;
    case SizingPhase::kFootprint:
      work.footprint_bytes = std::llround(load);
      break;
  }
  // One read at least.
  work.footprint_bytes =
      std::max(work.footprint_bytes, work.chunk_pages * config::kFilePageBytes);
  return work;
}

std::optional<SizingProbe> StorageSizing::Next() const {
  if (!search_ || !search_->Next()) return std::nullopt;
  const search::ProbeRequest& request = *search_->Next();
  SizingProbe probe;
  probe.phase = phase_;
  probe.work = WorkAt(request.load);
  probe.quantile = options_.quantile;
  probe.limit_seconds = options_.limit_seconds;
  probe.request = request;
  if (phase_ == SizingPhase::kHashSize) {
    probe.quantile = kMedian;
    probe.limit_seconds = options_.quiet_share * options_.limit_seconds;
  }
  if (phase_ == SizingPhase::kRate) probe.rate = request.load;
  if (phase_ == SizingPhase::kFootprint) {
    probe.rate = options_.footprint_load * *sizes_.max_rate;
  }
  return probe;
}

void StorageSizing::Add(const search::Probe& outcome) {
  search_->Add(outcome);
  ++probe_count_;
  if (search_->Next()) return;
  const search::SearchResult result = search_->result();
  search_.reset();
  sizes_.answers.push_back({phase_, result, probe_count_});
  if (!Accept(result)) return;
  std::optional<SizingPhase> next = After(phase_);
  if (next == SizingPhase::kChunk && HashPages() == 1) {
    // There is nothing to divide.
    sizes_.chunk_pages = 1;
    next = After(*next);
  }
  if (next) StartSearch(*next);
}

// Whether there is an answer to go on with.
bool StorageSizing::Accept(const search::SearchResult& result) {
  if (!result.load ||
      (result.verdict != search::SearchVerdict::kConverged &&
       result.verdict != search::SearchVerdict::kUpperBoundHit)) {
    return false;
  }
  switch (phase_) {
    case SizingPhase::kHashSize:
      sizes_.hash_bytes = std::llround(*result.load);
      break;
    case SizingPhase::kChunk:
      sizes_.chunk_pages = PagesOfRead(HashPages(), *result.load);
      break;
    case SizingPhase::kRate:
      sizes_.max_rate = *result.load;
      break;
    case SizingPhase::kFootprint:
      sizes_.footprint_bytes = std::llround(*result.load);
      break;
  }
  return true;
}

std::string Describe(const StorageSizes& sizes) {
  return absl::StrCat(
      "hash_size=", ByteText(sizes.hash_bytes), " rps_max=",
      sizes.max_rate ? absl::StrFormat("%.0f", *sizes.max_rate) : "?",
      " mem_actual=", ByteText(sizes.footprint_bytes), " chunk_pages=",
      sizes.chunk_pages ? absl::StrCat(*sizes.chunk_pages) : "?");
}

}  // namespace distbench::bench
