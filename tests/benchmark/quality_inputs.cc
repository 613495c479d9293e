#include "benchmark/quality_inputs.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/rng.h"
#include "base/strings.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

constexpr int64_t kMib = (int64_t{1} << 20) * 1000;  // In millibytes.
constexpr int64_t kGib = 1024 * kMib;
constexpr char kGpu[] = "nvidia.com/gpu";
constexpr char kGpuModel[] = "gpu-model";
constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kZone[] = "topology.kubernetes.io/zone";
// So many that no machine runs out of them.
constexpr int64_t kPods = 1000;

// An amount of each resource that the inputs deal in.
struct Amounts {
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t gpus = 0;

  NamedAmounts Gpus() const {
    return gpus > 0 ? NamedAmounts{{kGpu, gpus}} : NamedAmounts{};
  }
};

// What is asked for of what there is, resource by resource.
class Demand {
 public:
  void AddMachine(const Amounts& amounts) {
    total_[0] += static_cast<double>(amounts.cpu);
    total_[1] += static_cast<double>(amounts.memory);
    total_[2] += static_cast<double>(amounts.gpus);
  }
  void AddTask(const Amounts& amounts) {
    asked_[0] += static_cast<double>(amounts.cpu);
    asked_[1] += static_cast<double>(amounts.memory);
    asked_[2] += static_cast<double>(amounts.gpus);
  }
  double Cpu() const { return Share(0); }
  double Memory() const { return Share(1); }
  // Of the scarcest resource.
  double Load() const { return std::max({Share(0), Share(1), Share(2)}); }

 private:
  double Share(size_t i) const {
    return asked_[i] == 0 ? 0 : asked_[i] / total_[i];
  }
  std::array<double, 3> total_ = {};
  std::array<double, 3> asked_ = {};
};

void AppendMachine(const std::string& uuid, const Amounts& amounts,
                   MachineOptions options, QualityInput* input) {
  options.cpu = amounts.cpu;
  options.memory = amounts.memory;
  options.extended = amounts.Gpus();
  options.pods = kPods;
  input->commands.emplace_back(Added(uuid, options));
}

void AppendTask(const Amounts& amounts, TaskOptions options, const Gang& gang,
                QualityInput* input) {
  options.cpu = amounts.cpu;
  options.memory = amounts.memory;
  options.extended = amounts.Gpus();
  const auto uid = static_cast<uint64_t>(++input->task_count);
  input->commands.emplace_back(Submitted(uid, options, {.gang = gang}));
}

// One of the values, all equally likely.
template <class T, size_t n>
const T& Pick(const std::array<T, n>& values, Rng* rng) {
  return values[rng->Below(n)];
}

// A cluster of one of the families in the making.
class FamilyCluster {
 public:
  FamilyCluster(const QualityFamily& family, const ClusterExtent& extent,
                uint64_t seed)
      : family_(family), extent_(extent), rng_(seed) {}

  QualityInput Make() && {
    DrawMachines();
    DrawClasses();
    const int64_t load = rng_.Between(extent_.load_min, extent_.load_max);
    if (!family_.has_newcomers) {
      DrawTasks(load);
      return std::move(input_);
    }
    DrawTasks(load + 50);
    std::vector<Command> first = std::move(input_.commands);
    input_.commands.clear();
    are_newcomers_ = true;
    DrawClasses();
    DrawTasks(load + 50 + rng_.Between(20, 60));
    input_.newcomers = std::exchange(input_.commands, std::move(first));
    return std::move(input_);
  }

 private:
  struct TaskClass {
    Amounts amounts;
    PlacementRules rules;
    std::optional<DisruptionBudget> budget = {};  // Of what runs.
    int32_t preemption_cost = 0;
    int64_t task_count = 0;
    int64_t tasks_max = std::numeric_limits<int64_t>::max();
    bool IsFull() const { return task_count >= tasks_max; }
  };

  Amounts DrawShape() {
    if (family_.has_two_scarce_resources) {
      const int64_t cores = Pick(std::array{4, 8, 16}, &rng_);
      return {cores * 1000, cores * 4 * kGib};
    }
    if (family_.has_many_shapes) {
      return {Pick(std::array{4, 8, 12, 16, 24, 32}, &rng_) * 1000,
              Pick(std::array{8, 16, 24, 32, 64, 128}, &rng_) * kGib};
    }
    return {Pick(std::array{4, 8, 16}, &rng_) * 1000,
            Pick(std::array{8, 16, 32, 64}, &rng_) * kGib};
  }

  void DrawMachines() {
    std::vector<Amounts> shapes(family_.has_many_shapes ? rng_.Between(5, 8)
                                                        : rng_.Between(1, 3));
    for (Amounts& shape : shapes) shape = DrawShape();
    const int64_t count =
        rng_.Between(extent_.machines_min, extent_.machines_max);
    const uint64_t zone_count =
        family_.peer_rules.empty() ? 0 : 2 + rng_.Below(3);
    for (int64_t i = 0; i < count; ++i) {
      Amounts amounts = shapes[rng_.Below(shapes.size())];
      MachineOptions options;
      options.labels = {{"disk", Pick(std::array{"ssd", "hdd"}, &rng_)},
                        {"gen", StrCat(rng_.Between(1, 3))}};
      if (rng_.Chance(15, 100)) options.taints = {PreferNoSchedule("soft")};
      // The first has some, so that what needs them fits somewhere.
      if (family_.has_gpus && (i == 0 || rng_.Chance(40, 100))) {
        amounts.gpus = Pick(std::array{2, 4, 8}, &rng_);
        options.labels.emplace_back(kGpuModel,
                                    Pick(std::array{"a100", "t4"}, &rng_));
      }
      const std::string uuid = StrCat("machine-", i);
      QualityMachine& drawn = input_.machines.emplace_back();
      drawn.uuid = uuid;
      drawn.has_ssd = options.labels[0].second == "ssd";
      if (!family_.peer_rules.empty()) {
        drawn.zone = StrCat("zone-", rng_.Below(zone_count));
        options.labels.emplace_back(kHost, uuid);
        options.labels.emplace_back(kZone, drawn.zone);
      }
      if (family_.has_taints && rng_.Chance(20, 100)) {
        options.taints.push_back(NoSchedule("dedicated"));
      }
      AppendMachine(uuid, amounts, options, &input_);
      if (family_.is_partly_used &&
          rng_.Chance(static_cast<uint64_t>(extent_.used_machines), 100)) {
        const Amounts used = {DrawUsed(amounts.cpu, 250),
                              DrawUsed(amounts.memory, kGib / 4)};
        amounts.cpu -= used.cpu;
        amounts.memory -= used.memory;
        input_.commands.emplace_back(
            ForeignPod(StrCat("pod-", i), uuid,
                       {{"cpu", used.cpu}, {"memory", used.memory}}));
      }
      demand_.AddMachine(amounts);
    }
  }

  int64_t DrawUsed(int64_t amount, int64_t unit) {
    const int64_t units = amount / unit;
    return unit * rng_.Between(units * extent_.used_min / 100,
                               units * extent_.used_max / 100);
  }

  NodeTerm DrawTerm() {
    switch (rng_.Below(3)) {
      case 0:
        return {{LabelIn("disk", {"ssd"})}};
      case 1:
        return {{LabelIn("gen", {StrCat(rng_.Between(1, 3))})}};
      default:
        return {{LabelNotIn("gen", {"2"})}};
    }
  }

  // Tasks that need GPUs prefer a model; others keep off the machines that have
  // some, or would like to be there.
  NodeTerm DrawGpuTerm(bool needs_gpus) {
    if (needs_gpus) return {{LabelIn(kGpuModel, {"a100"})}};
    if (rng_.Chance(2, 3)) return {{LabelDoesNotExist(kGpuModel)}};
    return {{LabelExists(kGpuModel)}};
  }

  int32_t DrawWeight() { return Pick(std::array{1, 5, 20, 50, 100}, &rng_); }

  Amounts DrawRequest(int64_t index) {
    if (family_.has_two_scarce_resources) {
      const int64_t cpu = Pick(std::array{250, 500, 1000, 2000}, &rng_);
      const bool is_cpu_heavy = index % 2 == 0;
      return is_cpu_heavy ? Amounts{cpu * 2, cpu * kGib / 1000}
                          : Amounts{cpu / 2, cpu * 4 * kGib / 1000};
    }
    Amounts request = {
        Pick(std::array{250, 500, 1000, 2000, 3000, 4000}, &rng_),
        Pick(std::array{256, 512, 1024, 2048, 4096, 8192}, &rng_) * kMib};
    if (family_.has_many_shapes && rng_.Chance(1, 3)) {
      request.cpu *= 3;
      request.memory *= 3;
    }
    if (family_.has_gpus && rng_.Chance(40, 100)) {
      request.gpus = Pick(std::array{1, 1, 2, 4}, &rng_);
    }
    return request;
  }

  // Of the class that was drawn last.  The first has no rule, so that there is
  // one for others to keep away from or to follow; the second always has one.
  void DrawPeerRule(TaskClass* drawn) {
    const size_t index = classes_.size();
    QualityClass& rule = input_.classes.back();
    if (family_.peer_rules.empty() || index == 0) return;
    if (index > 1 && rng_.Chance(1, 4)) return;
    rule.rule = family_.peer_rules[rng_.Below(family_.peer_rules.size())];
    rule.other = rng_.Below(index);
    while (!family_.has_chains &&
           input_.classes[rule.other].rule == PeerRule::kFollows) {
      rule.other = rng_.Below(index);
    }
    const TaskSelector self = App(ClassName(index));
    const TaskSelector other = App(ClassName(rule.other));
    switch (*rule.rule) {
      case PeerRule::kApartByHost:
        drawn->rules.anti_affinity = {{self, kHost}};
        drawn->tasks_max = DrawCountFor(std::ssize(input_.machines));
        break;
      case PeerRule::kApartByZone:
        drawn->rules.anti_affinity = {{self, kZone}};
        drawn->tasks_max = DrawCountFor(ZoneCount());
        break;
      case PeerRule::kSpreadByZone:
        drawn->rules.spread = {Spread(self, kZone)};
        break;
      case PeerRule::kKeepsAway:
        drawn->rules.anti_affinity = {{other, kHost}};
        break;
      case PeerRule::kFollows:
        drawn->rules.affinity = {{other, kHost}};
        break;
      case PeerRule::kWishesSpread:
        drawn->rules.spread = {Spread(self, kZone)};
        drawn->rules.spread.front().is_required = false;
        break;
      case PeerRule::kWishesNear:
        drawn->rules.preferred_peers = {
            {.weight = kWeightOfNear, .term = {other, kZone}}};
        break;
    }
  }

  static std::string ClassName(size_t index) { return StrCat("class-", index); }

  // Tasks that are kept apart over so many places: some more than there are,
  // but not so many that most of the load could run nowhere.
  int64_t DrawCountFor(int64_t places) {
    return rng_.Between((places + 1) / 2, places + places / 4 + 1);
  }

  int64_t ZoneCount() const {
    std::set<std::string> zones;
    for (const QualityMachine& it : input_.machines) zones.insert(it.zone);
    return std::ssize(zones);
  }

  void DrawClasses() {
    const int64_t count =
        rng_.Between(extent_.classes_min, extent_.classes_max);
    for (int64_t i = 0; i < count; ++i) {
      TaskClass drawn = {.amounts = DrawRequest(i), .rules = {}};
      for (int64_t left = family_.has_wishes ? 0 : rng_.Between(0, 2); left > 0;
           --left) {
        drawn.rules.preferred.push_back({DrawWeight(), DrawTerm()});
      }
      if (family_.has_gpus) {
        drawn.rules.preferred.push_back(
            {DrawWeight(), DrawGpuTerm(drawn.amounts.gpus > 0)});
      }
      QualityClass& description = input_.classes.emplace_back();
      if (family_.has_selectors && rng_.Chance(1, 3)) {
        description.needs_ssd = true;
        drawn.rules.selectors = {LabelIn("disk", {"ssd"})};
      }
      if (family_.has_taints && rng_.Chance(1, 2)) {
        drawn.rules.tolerations = {ToleratesKey("dedicated")};
      }
      DrawPeerRule(&drawn);
      if (family_.has_budgets && rng_.Chance(2, 3)) {
        drawn.budget =
            DisruptionBudget{.limit = DisruptionBudget::Limit::kMaxUnavailable,
                             .amount = rng_.Between(10, 60),
                             .is_percent = true};
      }
      if (family_.has_prices)
        drawn.preemption_cost = Pick(std::array{0, 100, 200}, &rng_);
      classes_.push_back(std::move(drawn));
    }
  }

  // Of the resource that less is asked of, where both are to be scarce.
  size_t DrawClass() {
    const size_t drawn = rng_.Below(classes_.size());
    if (!family_.has_two_scarce_resources) return drawn;
    const size_t heavy_on_cpu = drawn - drawn % 2;
    if (demand_.Cpu() <= demand_.Memory()) return heavy_on_cpu;
    return std::min(heavy_on_cpu + 1, classes_.size() - 1);
  }

  uint32_t DrawPriority() {
    if (family_.priority_count == 1) return 0;
    if (family_.priority_count == QualityFamily::kOneForEachTask) {
      return static_cast<uint32_t>(input_.task_count);
    }
    return static_cast<uint32_t>(rng_.Below(family_.priority_count)) +
           (are_newcomers_ ? 1 : 0);
  }

  // As many as make the load, in per cent, with those that were drawn before.
  void DrawTasks(int64_t load_percent) {
    const double load = static_cast<double>(load_percent) / 100;
    // Of many kinds of tasks a large one that is too much comes soon: it is
    // left out, for smaller ones to make up the load.
    int64_t misses_left =
        family_.peer_rules.empty() && !family_.has_newcomers ? 0 : 20;
    for (int64_t gang_count = 0; input_.task_count < extent_.tasks_max;) {
      const size_t drawn = DrawClass();
      TaskClass& it = classes_[drawn];
      if (it.IsFull()) {
        if (std::ranges::all_of(classes_, &TaskClass::IsFull)) return;
        continue;
      }
      int64_t count = 1;
      TaskOptions options = {.priority = DrawPriority(),
                             .job = ClassName(drawn),
                             .labels = {{"app", ClassName(drawn)}},
                             .rules = it.rules,
                             .preemption_cost = it.preemption_cost};
      if (it.budget.has_value() && !are_newcomers_) options.budget = it.budget;
      // No budget waits for these.
      if (it.budget.has_value() && are_newcomers_) options.job += "-newcomers";
      Gang gang;
      if (family_.has_gangs && rng_.Chance(1, 8)) {
        count = rng_.Between(3, 8);
        options.job = StrCat(are_newcomers_ ? "gang-of-newcomers-" : "gang-",
                             gang_count++);
        // All of them, or at least half.
        gang.minimum =
            static_cast<uint64_t>(rng_.Chance(1, 2) ? count : (count + 1) / 2);
      }
      Demand demand = demand_;
      for (int64_t i = 0; i < count; ++i) demand.AddTask(it.amounts);
      if (demand.Load() > load) {
        if (misses_left-- == 0) return;
        continue;
      }
      demand_ = demand;
      it.task_count += count;
      for (int64_t i = 0; i < count; ++i) {
        AppendTask(it.amounts, options, gang, &input_);
        input_.classes_of_tasks.push_back(drawn);
      }
    }
  }

  const QualityFamily& family_;
  const ClusterExtent extent_;
  Rng rng_;
  Demand demand_;
  bool are_newcomers_ = false;  // The tasks that are drawn.
  std::vector<TaskClass> classes_;
  QualityInput input_;
};

using CsvRow = std::map<std::string, std::string>;

std::vector<CsvRow> ReadCsv(const std::string& path) {
  std::ifstream file(path);
  CHECK(file) << "cannot read " << path;
  std::vector<CsvRow> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      cells.push_back(cell);
    }
    if (header.empty()) {
      header = cells;
      continue;
    }
    cells.resize(header.size());
    CsvRow& row = rows.emplace_back();
    for (size_t i = 0; i < header.size(); ++i) row[header[i]] = cells[i];
  }
  return rows;
}

ClusterExtent ExtentOf(ClusterSize size) {
  switch (size) {
    case ClusterSize::kSmall:
      return {2, 6, 2, 4};
    case ClusterSize::kMiddle:
      return {10, 40, 4, 14};
    case ClusterSize::kLarge:
      return {150, 300, 10, 30};
  }
  LOG(FATAL) << "no such size";
}

const char* SizeName(ClusterSize size) {
  switch (size) {
    case ClusterSize::kSmall:
      return "small";
    case ClusterSize::kMiddle:
      return "middle";
    case ClusterSize::kLarge:
      return "large";
  }
  LOG(FATAL) << "no such size";
}

}  // namespace

const std::vector<QualityFamily>& QualityFamilies() {
  static const std::vector<QualityFamily> families = {
      {.name = "mixed"},
      {.name = "two scarce", .has_two_scarce_resources = true},
      {.name = "gpus", .has_gpus = true},
      {.name = "shapes", .has_many_shapes = true},
      {.name = "partly used", .is_partly_used = true},
      {.name = "gangs", .has_gangs = true},
      {.name = "priorities 2", .priority_count = 2},
      {.name = "priorities 3", .priority_count = 3},
      {.name = "priorities 10", .priority_count = 10},
      {.name = "priorities each",
       .priority_count = QualityFamily::kOneForEachTask},
      {.name = "preemption",
       .has_selectors = true,
       .priority_count = 3,
       .has_newcomers = true},
      {.name = "budgets",
       .has_selectors = true,
       .priority_count = 3,
       .has_newcomers = true,
       .has_budgets = true},
      {.name = "prices",
       .has_selectors = true,
       .priority_count = 3,
       .has_newcomers = true,
       .has_prices = true},
      {.name = "running gangs",
       .has_gangs = true,
       .has_selectors = true,
       .priority_count = 3,
       .has_newcomers = true},
      {.name = "apart by host",
       .has_selectors = true,
       .peer_rules = {PeerRule::kApartByHost}},
      {.name = "keeping away", .peer_rules = {PeerRule::kKeepsAway}},
      {.name = "zones",
       .has_selectors = true,
       .peer_rules = {PeerRule::kApartByZone, PeerRule::kSpreadByZone}},
      {.name = "company", .peer_rules = {PeerRule::kFollows}, .may_lose = true},
      {.name = "chains",
       .peer_rules = {PeerRule::kFollows},
       .has_chains = true,
       .may_lose = true},
      {.name = "wishes",
       .has_selectors = true,
       .peer_rules = {PeerRule::kWishesSpread, PeerRule::kWishesNear},
       .has_wishes = true},
      {.name = "all at once",
       .has_gpus = true,
       .is_partly_used = true,
       .has_gangs = true,
       .has_selectors = true,
       .has_taints = true,
       .peer_rules = {PeerRule::kApartByHost, PeerRule::kApartByZone,
                      PeerRule::kSpreadByZone, PeerRule::kKeepsAway,
                      PeerRule::kFollows},
       .priority_count = 3},
  };
  return families;
}

QualityInput MakeQualityInput(const QualityFamily& family, ClusterSize size,
                              uint64_t seed) {
  QualityInput input = MakeQualityInput(family, ExtentOf(size), seed);
  input.family = StrCat(family.name, " ", SizeName(size));
  input.name = StrCat(input.family, " ", seed);
  input.may_lose = family.may_lose;
  input.has_wishes = family.has_wishes;
  input.has_optimum = size != ClusterSize::kLarge;
  return input;
}

QualityInput MakeQualityInput(const QualityFamily& family,
                              const ClusterExtent& extent, uint64_t seed) {
  return FamilyCluster(family, extent, seed).Make();
}

QualityInput MakeSizesInput(uint64_t seed, int machine_count, int class_count,
                            double load) {
  Rng rng(seed);
  QualityInput input;
  input.name = StrCat("M=", machine_count, " C=", class_count, " load ",
                      static_cast<int64_t>(std::lround(load * 100)), "%");
  Demand demand;
  for (int i = 0; i < machine_count; ++i) {
    const int64_t cores = int64_t{16} << (i % 3);
    const Amounts amounts = {cores * 1000, cores * 4 * kGib};
    AppendMachine(StrCat("machine-", i), amounts, {}, &input);
    demand.AddMachine(amounts);
  }
  const auto log_uniform = [&](double low, double high) {
    const double u = static_cast<double>(rng.Below(1 << 20)) / (1 << 20);
    return low * std::pow(high / low, u);
  };
  std::vector<Amounts> classes;
  for (int i = 0; i < class_count; ++i) {
    const double cores = log_uniform(0.25, 15);
    const double gib_per_core = log_uniform(1, 16);
    classes.push_back(
        {std::lround(cores * 1000),
         std::lround(std::min(cores * gib_per_core, 60.0) * 1024) * kMib});
  }
  while (true) {
    const Amounts& amounts = classes[rng.Below(classes.size())];
    demand.AddTask(amounts);
    if (demand.Load() > load) return input;
    AppendTask(amounts, {.job = StrCat("job-", input.task_count / 100)}, {},
               &input);
  }
}

QualityInput ReadOpenbInput(const std::string& nodes_path,
                            const std::string& pods_path, int copies) {
  QualityInput input;
  input.name = StrCat("openb x", copies);
  const auto amounts_of = [](CsvRow& row, const char* gpus) {
    return Amounts{std::stoll(row["cpu_milli"]),
                   std::stoll(row["memory_mib"]) * kMib, std::stoll(row[gpus])};
  };
  int64_t machine_count = 0;
  for (CsvRow& row : ReadCsv(nodes_path)) {
    AppendMachine(StrCat("machine-", machine_count++), amounts_of(row, "gpu"),
                  {.labels = {{kGpuModel, row["model"]}}}, &input);
  }
  std::vector<CsvRow> pods = ReadCsv(pods_path);
  for (int i = 0; i < copies; ++i) {
    for (CsvRow& row : pods) {
      AppendTask(amounts_of(row, "num_gpu"),
                 {.job = StrCat("job-", input.task_count / 100)}, {}, &input);
    }
  }
  return input;
}

}  // namespace sluice
