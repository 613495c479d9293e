// The headers of other projects that most sources include, compiled once for all
// of them (../precompile.cmake).  No source names this file: each still includes
// what it uses, and scripts/lint, which precompiles nothing, holds it to that.
//
// Headers of ours stay out, because a change of one would compile everything
// anew.  So do headers with #pragma once (RocksDB's), of which GCC 12 and ccache
// together may serve an old version.

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
