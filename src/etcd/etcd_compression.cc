#include "etcd/etcd_compression.h"

#include <glog/logging.h>

#include "absl/status/status.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
constexpr int kLevel = 1;
// Less than this is not worth a try.
constexpr size_t kBytesMin = 64;

absl::Status Damaged(std::string_view key, std::string_view reason) {
  return absl::DataLossError(
      StrCat("the value of '", Printable(key, 256), "' is damaged: ", reason));
}

}  // namespace

EtcdCompressor::EtcdCompressor() : context_(ZSTD_createCCtx()) {
  CHECK(context_ != nullptr) << "out of memory";
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

std::string EtcdCompressor::Compress(std::string bytes) const {
  CHECK_LE(bytes.size(), kUncompressedBytesMax);
  const bool must_be_frame = bytes.starts_with(kMagic);
  if (bytes.size() < kBytesMin && !must_be_frame) return bytes;
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context_.get(), frame.data(), frame.size(),
                                     bytes.data(), bytes.size());
  CHECK(!ZSTD_isError(size)) << ZSTD_getErrorName(size);
  if (size >= bytes.size() && !must_be_frame) return bytes;
  frame.resize(size);
  frame.shrink_to_fit();
  return frame;
}

absl::StatusOr<std::string> Decompress(std::string_view key,
                                       std::string_view stored) {
  if (!stored.starts_with(kMagic)) return std::string(stored);
  const unsigned long long size =
      ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Damaged(key, "its frame does not say how long it is");
  }
  if (size > kUncompressedBytesMax) {
    return Damaged(key, StrCat("its frame is said to hold ", size,
                               " bytes, more than ", kUncompressedBytesMax));
  }
  std::string bytes(size, '\0');
  const size_t found =
      ZSTD_decompress(bytes.data(), bytes.size(), stored.data(), stored.size());
  if (ZSTD_isError(found)) return Damaged(key, ZSTD_getErrorName(found));
  if (found != size) return Damaged(key, "its frame is shorter than it says");
  return bytes;
}

}  // namespace sluice
