#ifndef DISTBENCH_ACTIVITY_ANTAGONISTS_H_
#define DISTBENCH_ACTIVITY_ANTAGONISTS_H_

#include "distbench/activity/registry.h"

namespace distbench::activity {

// Those of config::AntagonistActivities().
ActivityMakers AntagonistMakers();

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_ANTAGONISTS_H_
