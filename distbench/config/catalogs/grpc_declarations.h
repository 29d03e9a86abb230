#ifndef DISTBENCH_CONFIG_CATALOGS_GRPC_DECLARATIONS_H_
#define DISTBENCH_CONFIG_CATALOGS_GRPC_DECLARATIONS_H_

#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"

namespace distbench::config {

// The drivers over gRPC, in the catalog's order.
std::vector<DriverDeclaration> GrpcDeclarations();

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_GRPC_DECLARATIONS_H_
