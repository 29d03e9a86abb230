// What this product adds to the program.

#include "distbench/base/plugins.h"

namespace distbench::thrift {
namespace {

const base::Plugin<base::Product> kProduct("thrift", new base::Product{
                                                         "The driver thrift"});

}  // namespace
}  // namespace distbench::thrift
