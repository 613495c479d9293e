#include "constraints/machine_kinds.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

enum class VerdictEvent { kMachineDescribed, kRulesLearned };
enum class VerdictScope { kThisMachine, kMachinesMentioned };

struct VerdictRow {
  VerdictEvent event;
  MachineFields field;
  MachineAspect aspect;
  VerdictScope scope;
};

constexpr VerdictRow kVerdictRows[] = {
#define VERDICT_EVENT(event, field, aspect, scope) \
  {VerdictEvent::event, field, MachineAspect::aspect, VerdictScope::scope},
#include "constraints/verdict_events.def"
#undef VERDICT_EVENT
};

constexpr uint32_t Bit(MachineAspect aspect) {
  return uint32_t{1} << static_cast<uint32_t>(aspect);
}

// The aspects whose verdicts `event` ends on the machines in `scope`.
uint32_t AspectsOf(VerdictEvent event, MachineFields fields,
                   VerdictScope scope) {
  uint32_t aspects = 0;
  for (const VerdictRow& row : kVerdictRows) {
    if (row.event == event && row.scope == scope && (row.field & fields) != 0) {
      aspects |= Bit(row.aspect);
    }
  }
  return aspects;
}

// Stands for all unmentioned values: no client can send it, since it is no
// UTF-8.
constexpr std::string_view kOtherText = "\xff";

// The approximate number of bytes that the rules mention.
int64_t SizeOf(const std::vector<LabelRequirement>& requirements) {
  size_t size = 0;
  for (const LabelRequirement& requirement : requirements) {
    size += requirement.key.size();
    for (const std::string& value : requirement.values) size += value.size();
  }
  return static_cast<int64_t>(size);
}
int64_t SizeOf(const NodeTerm& term) {
  return SizeOf(term.labels) + SizeOf(term.fields);
}
// The machines and racks with the data, as a term that selects them.
NodeTerm TermOf(const TaskData& data) {
  NodeTerm term;
  if (data.empty()) return term;
  LabelRequirement& racks = term.labels.emplace_back();
  racks.key = kRackLabel;
  for (const auto& [rack, bytes] : data.in_racks) racks.values.push_back(rack);
  LabelRequirement& names = term.fields.emplace_back();
  for (const auto& [name, bytes] : data.on_machines) {
    names.values.push_back(name);
  }
  return term;
}
int64_t SizeOf(const PlacementRules& rules) {
  int64_t size = SizeOf(rules.selectors) + SizeOf(TermOf(rules.data));
  for (const NodeTerm& term : rules.required) size += SizeOf(term);
  for (const PreferredTerm& term : rules.preferred) size += SizeOf(term.term);
  return size;
}

// The number of `content`; a new number if it is seen for the first time.
template <class Content>
int32_t NumberOf(Content content, std::map<Content, int32_t>* numbers,
                 std::vector<const Content*>* contents) {
  const auto [it, is_new] = numbers->try_emplace(
      std::move(content), static_cast<int32_t>(contents->size()));
  if (is_new) contents->push_back(&it->first);
  return it->second;
}

}  // namespace

void MachineKinds::Learn(std::span<const PlacementRules* const> rules,
                         const ClusterState& state) {
  News news;
  for (const PlacementRules* one : rules) {
    const auto [it, is_new] = learned_.try_emplace(one->id);
    if (!is_new) continue;
    it->second = SizeOf(*one);
    learned_bytes_ += it->second;
    Note(one->selectors, &news);
    for (const NodeTerm& term : one->required) NoteTerm(term, &news);
    for (const PreferredTerm& term : one->preferred) NoteTerm(term.term, &news);
    NoteTerm(TermOf(one->data), &news);
  }
  if (news.labels.empty() && news.names.empty()) return;
  const auto is_mentioned = [&](const Machine& machine) {
    if (news.names.contains(machine.name) ||
        news.names.contains(machine.uuid)) {
      return true;
    }
    return std::ranges::any_of(machine.labels, [&](const auto& label) {
      const auto it = news.labels.find(label.first);
      return it != news.labels.end() &&
             (it->second.is_every_value ||
              it->second.values.contains(label.second));
    });
  };
  const uint32_t aspects = AspectsOf(VerdictEvent::kRulesLearned, kAllFields,
                                     VerdictScope::kMachinesMentioned);
  for (const auto& [id, machine] : state.machines()) {
    const bool is_known = id.value < kind_of_.size() && KindOf(id) != kNoKind;
    if (is_known && is_mentioned(*machine)) SeeAnew(*machine, aspects);
  }
}

void MachineKinds::Forget(std::span<const uint32_t> rules_ids) {
  for (const uint32_t id : rules_ids) {
    const auto it = learned_.find(id);
    if (it == learned_.end()) continue;
    ++forgotten_count_;
    forgotten_bytes_ += it->second;
    learned_bytes_ -= it->second;
    learned_.erase(it);
  }
}

void MachineKinds::NoteTerm(const NodeTerm& term, News* news) {
  Note(term.labels, news);
  for (const LabelRequirement& field : term.fields) {
    for (const std::string& name : field.values) {
      if (names_.insert(name).second) news->names.insert(name);
    }
  }
}

void MachineKinds::Note(const std::vector<LabelRequirement>& requirements,
                        News* news) {
  for (const LabelRequirement& requirement : requirements) {
    if (requirement.op == LabelOperator::kInvalid) continue;
    const auto [it, is_new] = labels_.try_emplace(requirement.key);
    Mentions& mentions = it->second;
    // Machines with the label begin to differ from those without.
    if (is_new) news->labels[requirement.key].is_every_value = true;
    switch (requirement.op) {
      case LabelOperator::kIn:
      case LabelOperator::kNotIn:
        for (const std::string& value : requirement.values) {
          if (mentions.values.insert(value).second) {
            news->labels[requirement.key].values.insert(value);
          }
        }
        break;
      case LabelOperator::kGreaterThan:
      case LabelOperator::kLessThan:
        if (!std::exchange(mentions.is_every_value, true)) {
          news->labels[requirement.key].is_every_value = true;
        }
        break;
      case LabelOperator::kExists:
      case LabelOperator::kDoesNotExist:
      case LabelOperator::kInvalid:
        break;
    }
  }
}

MachineKinds::LabelView MachineKinds::ViewLabels(const Machine& machine) const {
  const auto told = [&](const std::string& name) {
    return names_.contains(name) ? name : std::string(kOtherText);
  };
  LabelView view;
  view.name = told(machine.name);
  view.uuid = told(machine.uuid);
  view.type = machine.type;
  for (const auto& [key, value] : machine.labels) {
    const auto it = labels_.find(key);
    if (it == labels_.end()) continue;
    const Mentions& mentions = it->second;
    const bool is_told =
        mentions.is_every_value || mentions.values.contains(value);
    view.labels.emplace_back(key, is_told ? value : std::string(kOtherText));
  }
  return view;
}

void MachineKinds::Update(MachineId id, MachineFields fields,
                          const ClusterState& state) {
  if (id.value >= kind_of_.size()) kind_of_.resize(id.value + 1, kNoKind);
  const Machine* machine = state.FindMachine(id);
  if (machine == nullptr) {
    SetKind(id, kNoKind);
    return;
  }
  if (KindOf(id) == kNoKind) fields = kAllFields;
  SeeAnew(*machine, AspectsOf(VerdictEvent::kMachineDescribed, fields,
                              VerdictScope::kThisMachine));
}

void MachineKinds::SeeAnew(const Machine& machine, uint32_t aspects) {
  if (aspects == 0) return;
  Views views{};
  const KindId former = KindOf(machine.id);
  if (former != kNoKind) views = kinds_[static_cast<size_t>(former)].views;
  const auto see = [&](MachineAspect aspect, auto number) {
    if ((aspects & Bit(aspect)) == 0) return;
    views[static_cast<size_t>(aspect)] = number();
    ++invalidation_count_;
  };
  see(MachineAspect::kLabels, [&] {
    return NumberOf(ViewLabels(machine), &label_views_, &label_view_of_);
  });
  see(MachineAspect::kTaints, [&] {
    std::vector<Taint> taints;
    std::ranges::transform(machine.taints, std::back_inserter(taints),
                           &MachineTaint::taint);
    return NumberOf(std::move(taints), &taint_views_, &taint_view_of_);
  });
  see(MachineAspect::kAvoids,
      [&] { return NumberOf(machine.avoids, &avoid_views_, &avoid_view_of_); });
  SetKind(machine.id, KindWith(views));
}

KindId MachineKinds::KindWith(const Views& views) {
  const auto [it, is_new] = kind_ids_.try_emplace(views, size());
  if (is_new) {
    Kind& kind = kinds_.emplace_back();
    kind.views = views;
    const auto at = [&](MachineAspect aspect) {
      return static_cast<size_t>(views[static_cast<size_t>(aspect)]);
    };
    const LabelView& labels = *label_view_of_[at(MachineAspect::kLabels)];
    kind.exemplar.name = labels.name;
    kind.exemplar.uuid = labels.uuid;
    kind.exemplar.labels = labels.labels;
    kind.exemplar.type = labels.type;
    for (const Taint& taint : *taint_view_of_[at(MachineAspect::kTaints)]) {
      kind.exemplar.taints.push_back({taint});
    }
    kind.exemplar.avoids = *avoid_view_of_[at(MachineAspect::kAvoids)];
    kinds_by_name_[labels.name].push_back(it->second);
    if (labels.uuid != labels.name) {
      kinds_by_name_[labels.uuid].push_back(it->second);
    }
    for (const auto& [key, value] : labels.labels) {
      kinds_by_label_[key][value].push_back(it->second);
    }
  }
  return it->second;
}

std::vector<KindId> MachineKinds::KindsIn(const LabelRequirement& requirement,
                                          bool is_field) const {
  const KindsByText* by_text = &kinds_by_name_;
  if (!is_field) {
    const auto it = kinds_by_label_.find(requirement.key);
    if (it == kinds_by_label_.end()) return {};
    by_text = &it->second;
  }
  std::vector<KindId> kinds;
  for (const std::string& value : requirement.values) {
    const auto it = by_text->find(value);
    if (it == by_text->end()) continue;
    kinds.insert(kinds.end(), it->second.begin(), it->second.end());
  }
  return kinds;
}

void MachineKinds::SetKind(MachineId id, KindId kind) {
  const KindId former = std::exchange(kind_of_[id.value], kind);
  if (kind != kNoKind &&
      kinds_[static_cast<size_t>(kind)].machine_count++ == 0) {
    ++live_count_;
  }
  if (former != kNoKind &&
      --kinds_[static_cast<size_t>(former)].machine_count == 0) {
    --live_count_;
  }
}

bool MachineKinds::is_stale() const {
  // The amounts that can be kept for less than the cost of starting anew.
  constexpr int64_t kGoneMin = 1000;
  constexpr int64_t kBytesMin = 4 << 20;
  const int64_t dead = size() - live_count_;
  return dead > std::max(kGoneMin, 2 * live_count_) ||
         forgotten_count_ > std::max(10 * kGoneMin, 2 * std::ssize(learned_)) ||
         forgotten_bytes_ > std::max(kBytesMin, 2 * learned_bytes_);
}

}  // namespace sluice
