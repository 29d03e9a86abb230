// Describes in words who can reach a program's ports and what they can do
// there. Programs print this when they start, to prevent surprises.

#ifndef DISTBENCH_CLI_EXPOSURE_H_
#define DISTBENCH_CLI_EXPOSURE_H_

#include <string>

#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::cli {

// `listen` is the value of --listen; empty means all interfaces.
std::string SequencerExposure(const std::string& listen,
                              const security::TlsFiles& tls,
                              const security::AccessRules& access);
std::string DashboardExposure(const std::string& listen,
                              const security::TlsFiles& tls);
std::string NodeExposure(const std::string& listen,
                         const std::string& service_address,
                         const security::TlsFiles& tls);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_EXPOSURE_H_
