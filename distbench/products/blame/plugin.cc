// What this product adds to the program.

#include "distbench/base/plugins.h"

namespace distbench::blame {
namespace {

const base::Plugin<base::Product> kProduct(
    "blame", new base::Product{"Says what made slow requests slow"});

}  // namespace
}  // namespace distbench::blame
