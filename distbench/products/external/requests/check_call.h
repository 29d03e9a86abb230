#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_CHECK_CALL_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_CHECK_CALL_H_

#include "absl/status/status.h"
#include "distbench/products/external/external_calls.h"

namespace distbench::external {

// Checks all of a call that can be checked without its server: the method's
// name, the rows, the templates and, if there are descriptors, that they have
// the method and that the request is one of its requests. The error starts with
// the name of the member that is wrong, such as `request: `.
absl::Status CheckExternalCall(const ExternalCall& call);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_CHECK_CALL_H_
