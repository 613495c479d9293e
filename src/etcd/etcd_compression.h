// What a store writes to etcd, compressed by zstd.
//
// Some bytes are stored as they are, where that is not longer; otherwise as one
// zstd frame with its size and a checksum.  A frame begins with zstd's magic
// number.  Bytes that begin so themselves always become a frame.
//
// Threads: one at a time for each object.

#ifndef SLUICE_ETCD_ETCD_COMPRESSION_H_
#define SLUICE_ETCD_ETCD_COMPRESSION_H_

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sluice {

// No chunk of the log and no part of a value has more bytes.
inline constexpr size_t kUncompressedBytesMax = 4 << 20;

class EtcdCompressor {
 public:
  EtcdCompressor();

  // REQUIRES: at most kUncompressedBytesMax bytes.
  std::string Compress(std::string bytes) const;

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

// What Compress() was given.  `key` is for errors.
// Errors: kDataLoss for a damaged frame, and for one that says that it holds
// more than kUncompressedBytesMax, which is refused before it is made room for.
absl::StatusOr<std::string> Decompress(std::string_view key,
                                       std::string_view stored);

}  // namespace sluice

#endif  // SLUICE_ETCD_ETCD_COMPRESSION_H_
