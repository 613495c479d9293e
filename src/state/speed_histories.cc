#include "state/speed_histories.h"

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "base/int128.h"
#include "base/strings.h"

namespace sluice {
namespace {

constexpr char kInstanceType[] = "node.kubernetes.io/instance-type";
constexpr int64_t kMillibytesPerGib = (int64_t{1} << 30) * 1000;
constexpr int64_t kFsPerMs = 1'000'000'000'000;

// True for resources that say nothing about the speed of a machine.
bool IsLeftOut(const std::string& resource) {
  return resource == "pods" || resource == "ephemeral-storage" ||
         resource == kNetRx || resource == kNetTx;
}

}  // namespace

MachineTypeId MachineTypeOf(const LabelPairs& labels,
                            const NamedAmounts& capacity) {
  const std::string* name = FindLabel(labels, kInstanceType);
  uint64_t type = 0;
  if (name != nullptr && !name->empty()) {
    type = Fnv1a64(*name, Fnv1a64("instance-type:"));
  } else {
    uint64_t amounts = 0;  // A sum, which does not depend on the order.
    for (const auto& [resource, amount] : capacity) {
      if (amount <= 0 || IsLeftOut(resource)) continue;
      // What the kernels of equal machines reserve differs by some pages.
      const int64_t count =
          resource == "memory"
              ? (amount + kMillibytesPerGib / 2) / kMillibytesPerGib
              : amount;
      amounts += Fnv1a64(StrCat(resource, "=", count));
    }
    type = Fnv1a64(StrCat(amounts), Fnv1a64("capacity:"));
  }
  return {std::max<uint64_t>(type, 1)};
}

void SpeedHistories::Note(const Pair& pair, int64_t run_ms,
                          uint64_t instructions) {
  if (run_ms <= 0 || instructions == 0) return;
  const Int128 exact = Int128{kFsPerMs} * run_ms / Int128{instructions};
  const auto fs = static_cast<int64_t>(std::clamp<Int128>(exact, 1, kFsMax));
  History& history = pairs_.Use(pair);
  ++history.samples;
  history.mean_fs = SmoothedMean(history.mean_fs, fs, history.samples);
}

}  // namespace sluice
