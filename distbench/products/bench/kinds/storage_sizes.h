// What hashd-params found, as named values.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_STORAGE_SIZES_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_STORAGE_SIZES_H_

#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/bench/storage_sizing/storage_sizing.h"

namespace distbench::bench {

void AddStorageSizes(const StorageSizes& sizes, BenchValues& values);

// Without the answers of the searches. What is absent in the values is absent.
StorageSizes StorageSizesFrom(const BenchValues& values);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_STORAGE_SIZES_H_
