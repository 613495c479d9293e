// Kinds of machines: machines that no task's rules tell apart.
//
// A machine is reduced to what rules mention: its labels with a mentioned key,
// with the value only if that is mentioned itself or compared as a number;
// likewise its name and uuid; its type; its taints and avoids.  Machines that
// look the same are of one kind, so ten thousand machines, each with its own
// host name, are checked once.
//
// Kinds are numbered densely, and a number keeps its meaning until is_stale():
// when rules mention something new, the machines that differ in it move to
// other kinds.
//
// Threads: none; confined to the core thread.  Determinism: numbers follow
// from the order of the calls.

#ifndef SLUICE_CONSTRAINTS_MACHINE_KINDS_H_
#define SLUICE_CONSTRAINTS_MACHINE_KINDS_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "sluice/constraints/constraint.h"
#include "state/cluster_state.h"

namespace sluice {

using KindId = int32_t;
inline constexpr KindId kNoKind = -1;

class MachineKinds {
 public:
  // Learns what the rules mention.
  void Learn(std::span<const PlacementRules* const> rules,
             const ClusterState& state);
  // Rules with these ids no longer exist.
  void Forget(std::span<const uint32_t> rules_ids);
  // Looks at the machine again if the change of `fields` makes a difference, or
  // forgets it if `state` no longer has it.
  void Update(MachineId id, MachineFields fields, const ClusterState& state);

  // REQUIRES: Update() was told of the machine.
  KindId KindOf(MachineId id) const { return kind_of_[id.value]; }
  // Kinds are 0 to size() - 1; some may have no machine left.
  KindId size() const { return static_cast<KindId>(kinds_.size()); }
  // True if most of the data is about machines and rules that no longer exist:
  // then start anew.
  bool is_stale() const;
  // How often a machine was looked at again in an aspect.
  int64_t invalidation_count() const { return invalidation_count_; }

  // A machine that looks to rules like all of the kind: only its description.
  const Machine& Exemplar(KindId kind) const {
    return kinds_[static_cast<size_t>(kind)].exemplar;
  }
  // The kinds that meet a requirement of kIn on a label, or as a field on the
  // name or uuid, found without checking each; for a field, possibly others,
  // too.  REQUIRES: it was learned.
  std::vector<KindId> KindsIn(const LabelRequirement& requirement,
                              bool is_field) const;
  // Kinds with the same view of an aspect other than kLoad have the same
  // number, dense from 0.
  int32_t ViewOf(KindId kind, MachineAspect aspect) const {
    return kinds_[static_cast<size_t>(kind)].views[static_cast<size_t>(aspect)];
  }

 private:
  static constexpr size_t kAspectCount = 3;  // Without kLoad.
  using Views = std::array<int32_t, kAspectCount>;

  // What rules mention of a label.
  struct Mentions {
    bool is_every_value = false;  // Compared as a number.
    absl::flat_hash_set<std::string> values;
  };
  struct LabelView {
    std::string name;
    std::string uuid;
    LabelPairs labels;
    MachineTypeId type;
    friend auto operator<=>(const LabelView&, const LabelView&) = default;
  };
  struct Kind {
    Machine exemplar;
    Views views;
    int64_t machine_count = 0;
  };
  using KindsByText = absl::flat_hash_map<std::string, std::vector<KindId>>;
  // What rules mention for the first time.  For a new label, every value.
  struct News {
    absl::flat_hash_map<std::string, Mentions> labels;  // By key.
    absl::flat_hash_set<std::string> names;             // And uuids.
  };

  void Note(const std::vector<LabelRequirement>& requirements, News* news);
  void NoteTerm(const NodeTerm& term, News* news);
  LabelView ViewLabels(const Machine& machine) const;
  void SeeAnew(const Machine& machine, uint32_t aspects);
  void SetKind(MachineId id, KindId kind);
  KindId KindWith(const Views& views);

  // Ids of rules, with the number of bytes they mention.
  absl::flat_hash_map<uint32_t, int64_t> learned_;
  int64_t learned_bytes_ = 0;
  absl::flat_hash_map<std::string, Mentions> labels_;
  absl::flat_hash_set<std::string> names_;  // And uuids.

  // The number of each view, and its content by number: map keys never move.
  std::map<LabelView, int32_t> label_views_;
  std::vector<const LabelView*> label_view_of_;
  std::map<std::vector<Taint>, int32_t> taint_views_;
  std::vector<const std::vector<Taint>*> taint_view_of_;
  std::map<std::vector<Owner>, int32_t> avoid_views_;
  std::vector<const std::vector<Owner>*> avoid_view_of_;

  std::map<Views, KindId> kind_ids_;
  // By name and uuid, and by label key and value, if rules mention them.
  KindsByText kinds_by_name_;
  absl::flat_hash_map<std::string, KindsByText> kinds_by_label_;
  std::vector<Kind> kinds_;
  int64_t live_count_ = 0;  // Kinds with a machine.
  int64_t forgotten_bytes_ = 0;
  int64_t forgotten_count_ = 0;  // Rules.
  int64_t invalidation_count_ = 0;
  std::vector<KindId> kind_of_;  // By machine id.
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_MACHINE_KINDS_H_
