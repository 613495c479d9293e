// Runs a fuzz target without libFuzzer, so that it is built and run in every
// build: each file of the directory named, and then `--runs=N` mutations of
// them by `--seed=S`.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()),
                         input.size());
}

std::string Mutate(const std::vector<std::string>& corpus, sluice::Rng* rng) {
  std::string input = corpus[rng->Below(corpus.size())];
  for (uint64_t i = 1 + rng->Below(8); i > 0; --i) {
    const size_t at = rng->Below(input.size() + 1);
    switch (rng->Below(4)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(rng->Below(256));
        break;
      case 1:
        input.insert(at, 1, static_cast<char>(rng->Below(256)));
        break;
      case 2:
        input.erase(at, rng->Below(16));
        break;
      default: {
        // Splice: sequences of requests from different inputs.
        const std::string& other = corpus[rng->Below(corpus.size())];
        input.insert(at, other.substr(rng->Below(other.size() + 1)));
        break;
      }
    }
  }
  input.resize(std::min<size_t>(input.size(), 1 << 16));
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 0;
  uint64_t seed = 1;
  std::string directory;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--runs=")) {
      runs = std::stoull(argument.substr(7));
    } else if (argument.starts_with("--seed=")) {
      seed = std::stoull(argument.substr(7));
    } else {
      directory = argument;
    }
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);  // The order decides what a seed does.
  std::vector<std::string> corpus = {""};
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
  }
  for (const std::string& input : corpus) Run(input);
  sluice::Rng rng(seed);
  for (uint64_t i = 0; i < runs; ++i) Run(Mutate(corpus, &rng));
  std::printf("%zu inputs and %llu mutations ran (seed %llu)\n", corpus.size(),
              static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed));
  return 0;
}
