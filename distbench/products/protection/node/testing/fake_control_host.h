// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the control groups of a node's host.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_NODE_TESTING_FAKE_CONTROL_HOST_H_
#define DISTBENCH_PRODUCTS_PROTECTION_NODE_TESTING_FAKE_CONTROL_HOST_H_

#include <memory>
#include <string>

#include "distbench/node/test_part.h"
#include "distbench/products/protection/control_groups/applied_controls.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/guardian.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "distbench/products/protection/node/control_extension.h"

namespace distbench::protection {

// Makes controls of tests act on a hierarchy, and not on this host. There is no
// guardian. Must outlive the tests.
class FakeControlHost {
 public:
  void AddTo(node::NodeEnvironment& environment) {
    environment.system_root = hierarchy_.root();
    environment.extensions = {{"protection", &extension_}};
  }

  FakeHierarchy& hierarchy() { return hierarchy_; }

 private:
  class NoGuardian final : public Guardian {
   public:
    void Dismiss() override {}
  };

  FakeHierarchy hierarchy_;
  const ControlExtension extension_{
      {.state_folder = hierarchy_.state_folder(),
       .files = std::shared_ptr<GroupFiles>(std::shared_ptr<void>(),
                                            &hierarchy_.files()),
       .start_guardian = [](const std::string&) {
         return std::make_unique<NoGuardian>();
       }}};
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_NODE_TESTING_FAKE_CONTROL_HOST_H_
