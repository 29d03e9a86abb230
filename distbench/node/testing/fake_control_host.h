#ifndef DISTBENCH_NODE_TESTING_FAKE_CONTROL_HOST_H_
#define DISTBENCH_NODE_TESTING_FAKE_CONTROL_HOST_H_

#include <memory>
#include <string>

#include "distbench/node/test_part.h"
#include "distbench/products/protection/control_groups/applied_controls.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/guardian.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"

namespace distbench::node {

// Makes controls of tests act on the hierarchy, which must outlive them, and
// not on this host. There is no guardian.
inline void UseHierarchy(protection::FakeHierarchy& hierarchy,
                         NodeEnvironment& environment) {
  class NoGuardian final : public protection::Guardian {
   public:
    void Dismiss() override {}
  };
  environment.system_root = hierarchy.root();
  environment.control_host = {.state_folder = hierarchy.state_folder(),
                              .files = std::shared_ptr<protection::GroupFiles>(
                                  std::shared_ptr<void>(), &hierarchy.files()),
                              .start_guardian = [](const std::string&) {
                                return std::make_unique<NoGuardian>();
                              }};
}

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TESTING_FAKE_CONTROL_HOST_H_
