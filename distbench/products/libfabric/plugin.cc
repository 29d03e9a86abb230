// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/libfabric/providers_command.h"

namespace distbench::libfabric {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct("libfabric",
                                           new base::Product{
                                               "The driver libfabric"});

const base::Plugin<Command> kCommand("libfabric_providers",
                                     new Command{HelpSection::kHidden,
                                                 AddLibfabricProvidersCommand});

}  // namespace
}  // namespace distbench::libfabric
