// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The libfabric driver in the catalog, whether or not the build has its
// library.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_DECLARATION_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_DECLARATION_H_

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::libfabric {

// Settings that the tcp driver does not have.
inline constexpr char kProvider[] = "provider";
inline constexpr char kDefaultProvider[] = "tcp";
inline constexpr char kEndpoint[] = "endpoint";
inline constexpr char kRdmEndpoint[] = "rdm";  // the default
inline constexpr char kMsgEndpoint[] = "msg";
// 16 are too few for 100 small requests in flight (0.66 of the rate); from 64
// to 256 the number makes little difference.
inline constexpr config::TcpSettingLimits kReceiveBuffers = {"receive_buffers",
                                                             64, 16, 4096};
// The default takes messages of 256 KiB with their headers whole: in pieces of
// up to 128 KiB, the provider tcp uses twice the CPU time per byte. Its layer
// ofi_rxm cuts messages between 16 and 128 KiB and puts them together again
// (bench/bare_libfabric: replies of 32 KiB cost 58 us, of 256 KiB 168 us);
// larger ones go straight into the receiver's buffer.
inline constexpr config::TcpSettingLimits kReceiveBufferBytes = {
    "receive_buffer_bytes", 272 << 10, 4 << 10, 1 << 20};

config::DriverDeclaration Declaration();

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_DECLARATION_H_
