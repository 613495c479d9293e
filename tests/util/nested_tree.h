// The bytes of a machine's tree, each node the only child of the one before.
// Written by hand: as a message it would nest as deep.

#ifndef SLUICE_TESTS_UTIL_NESTED_TREE_H_
#define SLUICE_TESTS_UTIL_NESTED_TREE_H_

#include <algorithm>
#include <cstddef>
#include <string>

namespace sluice {

// A ResourceTopologyNodeDescriptor of `depth` empty nodes.
inline std::string NestedTree(int depth) {
  constexpr char kChildren = 0x12;  // Field 2, length-delimited.
  std::string reversed;
  for (int level = 1; level < depth; ++level) {
    std::string header(1, kChildren);
    size_t left = reversed.size();
    for (; left >= 128; left >>= 7) {
      header.push_back(static_cast<char>((left & 127) | 128));
    }
    header.push_back(static_cast<char>(left));
    reversed.append(header.rbegin(), header.rend());
  }
  std::ranges::reverse(reversed);
  return reversed;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_NESTED_TREE_H_
