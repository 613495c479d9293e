#include "cli/client/sparkline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace sluice {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄",
                                                     "▅", "▆", "▇", "█"};

}  // namespace

std::string Sparkline(std::span<const double> values) {
  std::string line;
  for (const double value : values) {
    const double height = std::clamp(value, 0.0, 1.0) * kBlocks.size();
    line += kBlocks[std::min(static_cast<size_t>(height), kBlocks.size() - 1)];
  }
  return line;
}

}  // namespace sluice
