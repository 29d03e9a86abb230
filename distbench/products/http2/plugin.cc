// What this product adds to the program.

#include "distbench/base/plugins.h"

namespace distbench::http2 {
namespace {

const base::Plugin<base::Product> kProduct("http2", new base::Product{
                                                        "The driver http2"});

}  // namespace
}  // namespace distbench::http2
