// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Objects of OpenSSL that are freed by their owners.

#ifndef DISTBENCH_SECURITY_OPENSSL_OWNED_H_
#define DISTBENCH_SECURITY_OPENSSL_OWNED_H_

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace distbench::security {

struct FreeOpenSsl {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* each) const { X509_EXTENSION_free(each); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  void operator()(X509_STORE_CTX* check) const { X509_STORE_CTX_free(check); }
};

template <typename Type>
using Owned = std::unique_ptr<Type, FreeOpenSsl>;

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_OPENSSL_OWNED_H_
