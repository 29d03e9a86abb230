// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/tls_session.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "glog/logging.h"

namespace distbench::security {
namespace {

// The minimum time between checks of the files.
constexpr absl::Duration kLookInterval = absl::Seconds(1);

// ---- Errors -----------------------------------------------------------------

// Returns OpenSSL's error, and clears its error queue.
std::string TakeOpenSslError() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (error == 0) return "";
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? absl::StrCat("OpenSSL error ", error) : reason;
}

// What is wrong with the peer's certificate; empty if it is valid.
std::string CertificateProblem(const SSL* ssl) {
  const long result = SSL_get_verify_result(ssl);
  if (result == X509_V_OK) return "";
  return absl::StrCat("the peer's certificate is refused (",
                      X509_verify_cert_error_string(result),
                      "; --tls_ca must name who signed it)");
}

// ---- ALPN -------------------------------------------------------------------

// Returns a list of up to one protocol as ALPN encodes it.
std::string ProtocolList(absl::string_view protocol) {
  if (protocol.empty()) return "";
  return absl::StrCat(std::string(1, static_cast<char>(protocol.size())),
                      protocol);
}

const unsigned char* BytesOf(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// A client that offers protocols must offer the server's.
int SelectProtocol(SSL*, const unsigned char** selected, unsigned char* size,
                   const unsigned char* offered, unsigned int offered_size,
                   void* list) {
  const auto& ours = *static_cast<const std::string*>(list);
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, size, BytesOf(ours),
                                           ours.size(), offered, offered_size);
  *selected = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK
                                          : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// `list` must outlive the context.
void OfferProtocols(const std::string& list, SSL_CTX* context) {
  if (list.empty()) return;
  SSL_CTX_set_alpn_protos(context, BytesOf(list), list.size());
  SSL_CTX_set_alpn_select_cb(context, SelectProtocol,
                             const_cast<std::string*>(&list));
}

// ---- Names ------------------------------------------------------------------

std::string CommonName(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (place < 0) return "";
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(
      &text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)));
  if (size < 0) return "";
  std::string name(reinterpret_cast<char*>(text), size);
  OPENSSL_free(text);
  return name;
}

// Empty for kinds of names that are no text and no address.
std::string ToText(const GENERAL_NAME& name) {
  int type = 0;
  const auto* value = static_cast<const ASN1_STRING*>(
      GENERAL_NAME_get0_value(const_cast<GENERAL_NAME*>(&name), &type));
  if (type == GEN_DNS || type == GEN_EMAIL || type == GEN_URI) {
    return std::string(
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
        ASN1_STRING_length(value));
  }
  if (type != GEN_IPADD) return "";
  const int family = ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, ASN1_STRING_get0_data(value), text, sizeof(text));
  return text;
}

std::vector<std::string> NamesIn(X509* certificate) {
  std::vector<std::string> names = {CommonName(certificate)};
  auto* alternatives = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
    names.push_back(ToText(*sk_GENERAL_NAME_value(alternatives, i)));
  }
  GENERAL_NAMES_free(alternatives);
  std::erase(names, "");
  return names;
}

// ---- Bytes to send ----------------------------------------------------------

char* RecordBuffer() {
  thread_local const std::unique_ptr<char[]> buffer(
      new char[TlsSession::kMaxRecordBytes]);
  return buffer.get();
}

}  // namespace

// Walks over the bytes of pieces.
class TlsSession::PieceReader {
 public:
  PieceReader(const iovec* pieces, int count) : piece_(pieces), left_(count) {
    LeaveEmptyPieces();
  }

  bool at_end() const { return left_ == 0; }

  // Returns how many bytes were skipped: fewer at the end.
  size_t Skip(size_t bytes) {
    size_t skipped = 0;
    while (skipped < bytes && !at_end()) {
      skipped += TakeOfPiece(bytes - skipped).size();
    }
    return skipped;
  }

  // Returns the next bytes, fewer at the end: copied to `copies` if they are in
  // several pieces.
  absl::string_view Take(size_t bytes, char* copies) {
    const absl::string_view first = TakeOfPiece(bytes);
    if (first.size() == bytes || at_end()) return first;
    size_t size = 0;
    for (absl::string_view part = first;; part = TakeOfPiece(bytes - size)) {
      std::memcpy(copies + size, part.data(), part.size());
      size += part.size();
      if (size == bytes || at_end()) return {copies, size};
    }
  }

 private:
  absl::string_view TakeOfPiece(size_t bytes) {
    const absl::string_view rest(
        static_cast<const char*>(piece_->iov_base) + offset_,
        piece_->iov_len - offset_);
    const absl::string_view taken = rest.substr(0, bytes);
    offset_ += taken.size();
    LeaveEmptyPieces();
    return taken;
  }

  void LeaveEmptyPieces() {
    while (left_ > 0 && offset_ == piece_->iov_len) {
      offset_ = 0;
      ++piece_;
      --left_;
    }
  }

  const iovec* piece_;
  int left_;           // pieces, this one included
  size_t offset_ = 0;  // into the piece
};

std::vector<std::string> PeerNames(const ssl_st* ssl) {
  X509* certificate = SSL_get1_peer_certificate(ssl);
  if (certificate == nullptr) return {};
  std::vector<std::string> names = NamesIn(certificate);
  X509_free(certificate);
  return names;
}

// ---- TlsSession -------------------------------------------------------------

void TlsSession::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsSession::State TlsSession::Handshake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return State::kReady;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return State::kWantsRead;
    case SSL_ERROR_WANT_WRITE:
      return State::kWantsWrite;
    default:
      TakeError();
      return State::kFailed;
  }
}

void TlsSession::TakeError() {
  const int system_error = errno;
  error_ = CertificateProblem(ssl_.get());
  const std::string reason = TakeOpenSslError();
  if (!error_.empty()) return;
  error_ = "TLS failed: ";
  if (!reason.empty()) {
    absl::StrAppend(&error_, reason);
  } else if (system_error != 0) {
    absl::StrAppend(&error_, std::strerror(system_error));
  } else {
    absl::StrAppend(&error_, "closed by the peer");
  }
}

TlsSession::TlsSession(ssl_st* ssl, int fd, const SocketCalls& calls)
    : socket_(fd, calls), ssl_(ssl) {
  BIO* bio = socket_.NewBio();
  SSL_set_bio(ssl, bio, bio);
}

// With room for what OpenSSL has kept of a record, everything that is received
// ahead fits into the caller's buffer once it is decrypted: nothing must stay
// here, as no poller would know of it.
ssize_t TlsSession::Receive(char* buffer, size_t size) {
  const bool reads_ahead = size >= 2 * kMaxSealedBytes;
  if (reads_ahead) socket_.BeginReadingAhead(size - kMaxSealedBytes);
  size_t received = 0;
  int result;
  do {
    ERR_clear_error();
    errno = 0;
    result = SSL_read(ssl_.get(), buffer + received,
                      static_cast<int>(size - received));
    if (result > 0) received += result;
  } while (result > 0 && (reads_ahead ? socket_.has_unread()
                                      : size - received >= kMaxRecordBytes));
  socket_.EndReadingAhead();
  // An error will be returned again by the next call.
  if (received > 0) return static_cast<ssize_t>(received);
  return socket_.at_end() ? 0 : ToResult(result);
}

ssize_t TlsSession::Send(const iovec* pieces, int count) {
  if (!socket_.SendRest()) return SendFailed();
  PieceReader bytes(pieces, count);
  size_t sent = bytes.Skip(unreported_bytes_);
  unreported_bytes_ -= sent;
  while (!bytes.at_end()) {
    const ssize_t written = WriteRecords(bytes);
    if (written < 0) return sent > 0 ? static_cast<ssize_t>(sent) : written;
    if (!socket_.SendGathered()) {
      unreported_bytes_ = written;
      return sent > 0 ? static_cast<ssize_t>(sent) : SendFailed();
    }
    sent += written;
  }
  return static_cast<ssize_t>(sent);
}

// Has the socket gather records of up to kMaxSendBytes. Returns the number of
// bytes in them, or -1 with errno.
ssize_t TlsSession::WriteRecords(PieceReader& bytes) {
  socket_.BeginGathering();
  size_t written = 0;
  while (written < kMaxSendBytes && !bytes.at_end()) {
    const absl::string_view record =
        bytes.Take(kMaxRecordBytes, RecordBuffer());
    ERR_clear_error();
    errno = 0;
    const int result =
        SSL_write(ssl_.get(), record.data(), static_cast<int>(record.size()));
    if (result <= 0) {
      socket_.DropGathered();
      ToResult(result);
      return -1;
    }
    written += result;
  }
  return static_cast<ssize_t>(written);
}

// What was encrypted could not be sent; errno says why.
ssize_t TlsSession::SendFailed() {
  const int error = errno;
  if (error == EAGAIN) return -1;
  error_ = absl::StrCat("TLS failed: ", std::strerror(error));
  errno = error;
  return -1;
}

void TlsSession::Finish() {
  if (!socket_.SendRest()) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

ssize_t TlsSession::ToResult(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    default:
      break;
  }
  const int system_error = errno;
  TakeError();
  errno = system_error != 0 ? system_error : EPROTO;
  return -1;
}

// ---- TlsContext -------------------------------------------------------------

TlsContext::TlsContext(TlsFiles files, TlsRole role, absl::string_view protocol)
    : files_(std::move(files)),
      role_(role),
      protocols_(ProtocolList(protocol)) {}

absl::StatusOr<std::unique_ptr<TlsContext>> TlsContext::Make(
    TlsFiles files, TlsRole role, absl::string_view protocol) {
  absl::Status status = CheckTlsFiles(files, role);
  if (!status.ok()) return status;
  std::unique_ptr<TlsContext> made(
      new TlsContext(std::move(files), role, protocol));
  absl::StatusOr<Context> context = made->Load();
  if (!context.ok()) return context.status();
  const absl::MutexLock lock(&made->mutex_);
  made->loaded_times_ = made->FileTimes();
  made->context_ = *std::move(context);
  made->next_look_ = absl::Now() + kLookInterval;
  return made;
}

TlsContext::~TlsContext() = default;

absl::StatusOr<TlsContext::Context> TlsContext::Load() const {
  Context context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  SSL_CTX* ctx = context.get();
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(ctx, files_.cert.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(ctx, files_.key.c_str(), SSL_FILETYPE_PEM) !=
          1 ||
      (!files_.ca.empty() &&
       SSL_CTX_load_verify_locations(ctx, files_.ca.c_str(), nullptr) != 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("TLS cannot use ", files_.cert, ", ", files_.key, " and ",
                     files_.ca, ": ", TakeOpenSslError()));
  }
  SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
  if (!files_.ca.empty()) {
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       nullptr);
  }
  SSL_CTX_set_mode(
      ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Connections are made once and stay open, so there are no sessions to
  // resume.
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(ctx, 0);
  OfferProtocols(protocols_, ctx);
  return context;
}

std::string TlsContext::FileTimes() const {
  std::string times;
  for (const std::string* file : {&files_.ca, &files_.cert, &files_.key}) {
    if (file->empty()) continue;
    struct stat info = {};
    if (stat(file->c_str(), &info) != 0) return "";
    absl::StrAppend(&times, info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, " ",
                    info.st_ino, " ", info.st_size, "\n");
  }
  return times;
}

TlsContext::Context TlsContext::Current() {
  const absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  if (now < next_look_) return context_;
  next_look_ = now + kLookInterval;
  const std::string times = FileTimes();
  if (times == loaded_times_) return context_;
  // During a renewal, the files may not match yet.
  absl::Status status = CheckTlsFiles(files_, role_);
  if (status.ok()) {
    absl::StatusOr<Context> context = Load();
    status = context.status();
    if (status.ok()) context_ = *std::move(context);
  }
  if (status.ok()) {
    loaded_times_ = times;
  } else {
    LOG_EVERY_N(WARNING, 60)
        << "the renewed certificate is not used: " << status.message();
  }
  return context_;
}

ssl_ctx_st* TlsContext::NewReference() {
  ssl_ctx_st* context = Current().get();
  SSL_CTX_up_ref(context);
  return context;
}

std::unique_ptr<TlsSession> TlsContext::NewSession(int fd, Side side,
                                                   const SocketCalls& calls) {
  SSL* ssl = SSL_new(Current().get());
  if (side == Side::kServer) {
    SSL_set_accept_state(ssl);
  } else {
    SSL_set_connect_state(ssl);
  }
  return std::unique_ptr<TlsSession>(new TlsSession(ssl, fd, calls));
}

}  // namespace distbench::security
