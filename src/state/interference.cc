#include "state/interference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

// Poseidon's label.
constexpr char kTypeLabel[] = "taskType";
// A space: no label of Kubernetes has one.
constexpr char kKindLabel[] = "task kind";
// In the order of TaskKind.
constexpr std::array<std::string_view, kTaskKindCount> kNames = {
    "sheep", "rabbit", "devil", "turtle"};

char ToLower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a')
                                        : letter;
}

}  // namespace

std::string_view TaskKindName(TaskKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<TaskKind> StatedKindOf(const TaskSpec& spec) {
  if (const std::string* label = FindLabel(spec.labels, kTypeLabel)) {
    for (size_t i = 0; i < kNames.size(); ++i) {
      if (std::ranges::equal(*label, kNames[i], {}, ToLower)) {
        return static_cast<TaskKind>(i);
      }
    }
  }
  // The client may know types that this program does not.
  if (spec.task_type <= 0 || spec.task_type >= std::ssize(kNames)) {
    return std::nullopt;
  }
  return static_cast<TaskKind>(spec.task_type);
}

LabelPairs WithKind(LabelPairs labels, TaskKind kind) {
  const auto at = std::ranges::lower_bound(labels, kKindLabel, {},
                                           &LabelPairs::value_type::first);
  labels.insert(at, {kKindLabel, std::string(TaskKindName(kind))});
  return labels;
}

std::vector<WeightedPeerTerm> TermsOfKind(TaskKind kind,
                                          const Interference& interference) {
  std::vector<WeightedPeerTerm> terms;
  const auto& of_kind = interference[static_cast<size_t>(kind)];
  for (size_t other = 0; other < kTaskKindCount; ++other) {
    if (of_kind[other] == 0) continue;
    LabelRequirement is_other{
        .key = kKindLabel,
        .values = {std::string(TaskKindName(static_cast<TaskKind>(other)))}};
    // Selects any namespace.
    TaskSelector tasks{.labels = std::vector{std::move(is_other)},
                       .namespace_labels = std::vector<LabelRequirement>()};
    terms.push_back({-of_kind[other], {.tasks = std::move(tasks)}});
  }
  return terms;
}

}  // namespace sluice
