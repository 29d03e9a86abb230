// Declarations of the activities that read and write files.

#ifndef DISTBENCH_CONFIG_CATALOGS_STORAGE_ACTIVITIES_H_
#define DISTBENCH_CONFIG_CATALOGS_STORAGE_ACTIVITIES_H_

#include <cstdint>
#include <vector>

#include "distbench/config/catalogs/activity_catalog.h"

namespace distbench::config {

// Files are read and written in pages: the page size of most kernels, and a
// multiple of the block sizes of devices.
inline constexpr int64_t kFilePageBytes = 4096;

std::vector<ActivityDeclaration> StorageActivities();

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_STORAGE_ACTIVITIES_H_
