// Who can reach what a program listens at, and what they can do there, in
// words: nobody shall find out later.

#ifndef DISTBENCH_CLI_EXPOSURE_H_
#define DISTBENCH_CLI_EXPOSURE_H_

#include <string>

#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench {

// `listen`: as the flag says; empty: all interfaces.
std::string SequencerExposure(const std::string& listen, const TlsFiles& tls,
                              const AccessRules& access);
std::string NodeExposure(const std::string& listen,
                         const std::string& service_address,
                         const TlsFiles& tls);

}  // namespace distbench

#endif  // DISTBENCH_CLI_EXPOSURE_H_
