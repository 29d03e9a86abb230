#include "distbench/activity/compressor.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <new>

#include "glog/logging.h"

namespace distbench {
namespace {

class Zlib final : public Compressor {
 public:
  explicit Zlib(int level) {
    const int zlib_level = level == 0 ? Z_DEFAULT_COMPRESSION : level;
    if (deflateInit(&deflate_, zlib_level) != Z_OK) throw std::bad_alloc();
    if (inflateInit(&inflate_) != Z_OK) {
      deflateEnd(&deflate_);
      throw std::bad_alloc();
    }
  }
  ~Zlib() override {
    deflateEnd(&deflate_);
    inflateEnd(&inflate_);
  }
  Zlib(const Zlib&) = delete;
  Zlib& operator=(const Zlib&) = delete;

  void Compress(absl::string_view data, std::string& compressed) override {
    CHECK_EQ(deflateReset(&deflate_), Z_OK);
    compressed.resize(deflateBound(&deflate_, data.size()));
    Connect(data, compressed, deflate_);
    CHECK_EQ(deflate(&deflate_, Z_FINISH), Z_STREAM_END);
    compressed.resize(deflate_.total_out);
  }

  void Decompress(absl::string_view compressed, size_t size,
                  std::string& data) override {
    CHECK_EQ(inflateReset(&inflate_), Z_OK);
    data.resize(size);
    Connect(compressed, data, inflate_);
    CHECK_EQ(inflate(&inflate_, Z_FINISH), Z_STREAM_END);
    CHECK_EQ(inflate_.total_out, size);
  }

 private:
  static void Connect(absl::string_view in, std::string& out,
                      z_stream& stream) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
  }

  z_stream deflate_ = {};
  z_stream inflate_ = {};
};

class Snappy final : public Compressor {
 public:
  void Compress(absl::string_view data, std::string& compressed) override {
    snappy::Compress(data.data(), data.size(), &compressed);
  }

  void Decompress(absl::string_view compressed, size_t size,
                  std::string& data) override {
    CHECK(snappy::Uncompress(compressed.data(), compressed.size(), &data));
    CHECK_EQ(data.size(), size);
  }
};

class Zstd final : public Compressor {
 public:
  explicit Zstd(int level)
      : level_(level == 0 ? ZSTD_CLEVEL_DEFAULT : level),
        compression_(ZSTD_createCCtx()),
        decompression_(ZSTD_createDCtx()) {
    if (compression_ != nullptr && decompression_ != nullptr) return;
    ZSTD_freeCCtx(compression_);
    ZSTD_freeDCtx(decompression_);
    throw std::bad_alloc();
  }
  ~Zstd() override {
    ZSTD_freeCCtx(compression_);
    ZSTD_freeDCtx(decompression_);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  void Compress(absl::string_view data, std::string& compressed) override {
    compressed.resize(ZSTD_compressBound(data.size()));
    const size_t size =
        ZSTD_compressCCtx(compression_, compressed.data(), compressed.size(),
                          data.data(), data.size(), level_);
    CHECK(!ZSTD_isError(size)) << ZSTD_getErrorName(size);
    compressed.resize(size);
  }

  void Decompress(absl::string_view compressed, size_t size,
                  std::string& data) override {
    data.resize(size);
    const size_t done =
        ZSTD_decompressDCtx(decompression_, data.data(), data.size(),
                            compressed.data(), compressed.size());
    CHECK_EQ(done, size) << ZSTD_getErrorName(done);
  }

 private:
  const int level_;
  ZSTD_CCtx* const compression_;
  ZSTD_DCtx* const decompression_;
};

}  // namespace

std::unique_ptr<Compressor> MakeCompressor(absl::string_view algorithm,
                                           int level) {
  if (algorithm == "zlib") return std::make_unique<Zlib>(level);
  if (algorithm == "snappy") return std::make_unique<Snappy>();
  CHECK_EQ(algorithm, "zstd");
  return std::make_unique<Zstd>(level);
}

}  // namespace distbench
