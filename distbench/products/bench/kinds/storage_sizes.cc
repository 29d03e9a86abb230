#include "distbench/products/bench/kinds/storage_sizes.h"
#include "distbench/products/bench/kinds/values.h"

#include <cmath>

namespace distbench::bench {
namespace {

constexpr char kHashSize[] = "hash_size";
constexpr char kChunkPages[] = "chunk_pages";
constexpr char kMaxRate[] = "rps_max";
constexpr char kFootprint[] = "mem_actual";

std::optional<int64_t> WholeIfAny(const BenchValues& values, const char* name) {
  const std::optional<double> number = FindNumber(values, name);
  if (!number.has_value()) return std::nullopt;
  return std::llround(*number);
}

}  // namespace

void AddStorageSizes(const StorageSizes& sizes, BenchValues& values) {
  if (sizes.hash_bytes.has_value()) {
    AddNumber(kHashSize, *sizes.hash_bytes, values, kBytes);
  }
  if (sizes.max_rate.has_value()) {
    AddNumber(kMaxRate, *sizes.max_rate, values);
  }
  if (sizes.footprint_bytes.has_value()) {
    AddNumber(kFootprint, *sizes.footprint_bytes, values, kBytes);
  }
  if (sizes.chunk_pages.has_value()) {
    AddNumber(kChunkPages, *sizes.chunk_pages, values);
  }
}

StorageSizes StorageSizesFrom(const BenchValues& values) {
  StorageSizes sizes;
  sizes.hash_bytes = WholeIfAny(values, kHashSize);
  sizes.chunk_pages = WholeIfAny(values, kChunkPages);
  sizes.max_rate = FindNumber(values, kMaxRate);
  sizes.footprint_bytes = WholeIfAny(values, kFootprint);
  return sizes;
}

}  // namespace distbench::bench
