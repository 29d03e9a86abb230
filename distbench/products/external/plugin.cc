// What this product adds to the program.

#include "distbench/base/plugins.h"

namespace distbench::external {
namespace {

const base::Plugin<base::Product> kProduct(
    "external", new base::Product{"Calls services that are not distbench's"});

}  // namespace
}  // namespace distbench::external
