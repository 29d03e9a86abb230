// What hashd-params found, as named values.

#ifndef DISTBENCH_SEQUENCES_KINDS_STORAGE_SIZES_H_
#define DISTBENCH_SEQUENCES_KINDS_STORAGE_SIZES_H_

#include "distbench/search/storage_sizing/storage_sizing.h"
#include "distbench/sequences/kinds/values.h"

namespace distbench {

void AddStorageSizes(const StorageSizes& sizes, BenchValues& values);

// Without the answers of the searches. What is absent in the values is absent.
StorageSizes StorageSizesFrom(const BenchValues& values);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCES_KINDS_STORAGE_SIZES_H_
