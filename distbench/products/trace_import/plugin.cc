// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/trace_import/command.h"

namespace distbench::trace_import {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "trace_import", new base::Product{"Makes tests from recorded traces"});

const base::Plugin<Command> kCommand("import", new Command{HelpSection::kTests,
                                                           AddImportCommand});

}  // namespace
}  // namespace distbench::trace_import
