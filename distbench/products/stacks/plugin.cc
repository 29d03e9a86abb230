// What this product adds to the program.

#include "distbench/base/plugins.h"

namespace distbench::stacks {
namespace {

const base::Plugin<base::Product> kProduct(
    "stacks",
    new base::Product{
        "Compares stacks of software over the results of many tests"});

}  // namespace
}  // namespace distbench::stacks
