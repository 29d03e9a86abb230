// The declarations of the drivers that the catalog lists, by family.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_DECLARATIONS_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_DECLARATIONS_H_

#include "distbench/config/catalogs/driver_catalog.h"

namespace distbench::config {

// Over gRPC.
DriverDeclaration GrpcDeclaration();
DriverDeclaration GrpcAsyncCallbackDeclaration();
DriverDeclaration GrpcStreamDeclaration();

// Over TCP connections that distbench makes.
DriverDeclaration Http2Declaration();
DriverDeclaration TcpDeclaration();
DriverDeclaration ThriftDeclaration();

// Over libfabric.
DriverDeclaration LibfabricDeclaration();

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_DECLARATIONS_H_
