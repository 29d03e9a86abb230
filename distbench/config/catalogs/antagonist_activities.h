// The activities that stand for a noisy neighbour: each puts pressure on one
// resource of its host, and says how much it did.

#ifndef DISTBENCH_CONFIG_CATALOGS_ANTAGONIST_ACTIVITIES_H_
#define DISTBENCH_CONFIG_CATALOGS_ANTAGONIST_ACTIVITIES_H_

#include <vector>

#include "distbench/config/catalogs/activity_catalog.h"

namespace distbench::config {

// The part of ActivityCatalog() with these activities.
std::vector<ActivityDeclaration> AntagonistActivities();

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_ANTAGONIST_ACTIVITIES_H_
