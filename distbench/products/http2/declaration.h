// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The http2 driver in the catalog, whether or not the build has its library.

#ifndef DISTBENCH_PRODUCTS_HTTP2_DECLARATION_H_
#define DISTBENCH_PRODUCTS_HTTP2_DECLARATION_H_

#include <cstdint>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::http2 {

// Settings that the tcp driver does not have. Windows are at most as large as
// HTTP/2 allows (RFC 9113, section 6.9.1).
inline constexpr config::TcpSettingLimits kStreamWindow = {
    "stream_window_bytes", 1 << 20, 65'535, (int64_t{1} << 31) - 1};
inline constexpr config::TcpSettingLimits kConnectionWindow = {
    "connection_window_bytes", 16 << 20, 65'535, (int64_t{1} << 31) - 1};
inline constexpr config::TcpSettingLimits kMaxStreams = {
    "max_concurrent_streams", 1 << 16, 1, 1 << 20};
inline constexpr config::TcpSettingLimits kKeptRequestBytes = {
    "kept_request_bytes", 64 << 20, 64 << 10, int64_t{1} << 34};

config::DriverDeclaration Declaration();

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_DECLARATION_H_
