#include "packing/machine_filling.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace sluice {
namespace {

// A bound of the error of sums of some hundred products of doubles.
constexpr double kRounding = 1e-11;
constexpr int kWeightSteps = 10;
// Limits of partial fillings looked at.
constexpr int64_t kRoughNodes = 60;
constexpr int64_t kExactNodes = 400;
// Fillings looked at per node, including hopeless ones.
constexpr int64_t kWorkPerNode = 100;
// Cells of a grid times classes.
constexpr int64_t kGridMax = 4000000;

}  // namespace

MachineFilling::MachineFilling(const PackingProblem& problem)
    : problem_(problem),
      dimensions_(problem.groups.empty() ? 0 : problem.groups[0].free.size()),
      has_company_(
          std::ranges::any_of(problem.classes, &PackingClass::needs_company)),
      weights_(problem.groups.size()),
      apart_(problem.classes.size(), 0) {}

void MachineFilling::CollectItems(std::span<const double> values,
                                  std::span<const double> moved,
                                  std::span<const int64_t> counts) {
  items_.clear();
  requests_.clear();
  shares_.clear();
  work_ += std::ssize(problem_.classes);
  for (size_t c = 0; c < problem_.classes.size(); ++c) {
    if (values[c] <= 0) continue;
    if (!moved.empty() && moved[c] < values[c]) {
      CollectMovable(c, values[c], moved[c], counts[c]);
    } else {
      CollectItem(c, values[c], counts[c]);
    }
  }
  if (has_company_) CollectCompany(values, counts);
}

void MachineFilling::CollectItem(size_t task_class, double value,
                                 int64_t count) {
  const PackingClass& one = problem_.classes[task_class];
  int64_t limit = std::min(count, problem_.MostOn(task_class, group_->kind));
  if (problem_.costs[group_->kind][task_class] == kNotAllowed) return;
  for (size_t d = 0; d < dimensions_ && limit > 0; ++d) {
    if (one.request[d] == 0) continue;
    limit = std::min(limit, group_->free[d] / one.request[d]);
  }
  if (limit <= 0) return;
  items_.push_back(
      {.task_class = task_class,
       .row = requests_.size() / std::max<size_t>(dimensions_, 1),
       .value = value,
       .limit = limit,
       .needs_company =
           has_company_ && problem_.NeedsCompany(task_class, group_->kind)});
  for (size_t d = 0; d < dimensions_; ++d) {
    requests_.push_back(one.request[d]);
    shares_.push_back(one.request[d] == 0
                          ? 0
                          : static_cast<double>(one.request[d]) /
                                static_cast<double>(group_->free[d]));
  }
}

void MachineFilling::CollectMovable(size_t task_class, double value,
                                    double moved, int64_t count) {
  const int64_t running =
      std::min(count, problem_.RunningOn(task_class, group_->kind));
  const size_t before = items_.size();
  CollectItem(task_class, value, running);
  if (moved <= 0) return;
  CollectItem(task_class, moved, count);
  // If there are more than fit, the cheaper ones must not replace the dearer.
  if (items_.size() == before + 2) {
    items_.back().limit -= items_[before].limit;
    if (items_.back().limit == 0) items_.pop_back();
  }
}

void MachineFilling::CollectCompany(std::span<const double> values,
                                    std::span<const int64_t> counts) {
  std::vector<bool> is_wanted(values.size(), false);
  // Items that are added here may need company, too.
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!items_[i].needs_company) continue;
    for (const size_t c : problem_.classes[items_[i].task_class].company) {
      if (values[c] > 0 || is_wanted[c]) continue;
      is_wanted[c] = true;
      CollectItem(c, values[c], std::min<int64_t>(counts[c], 1));
    }
  }
  std::vector<bool> is_there(values.size(), false);
  for (const Item& item : items_) is_there[item.task_class] = true;
  const auto is_alone = [&](const Item& item) {
    return item.needs_company &&
           std::ranges::none_of(problem_.classes[item.task_class].company,
                                [&](size_t c) { return is_there[c]; });
  };
  while (std::erase_if(items_, [&](const Item& item) {
           if (!is_alone(item)) return false;
           is_there[item.task_class] = false;
           return true;
         }) > 0) {
  }
}

double MachineFilling::Relax(std::span<const double> weights,
                             std::vector<double>* used) {
  work_ += 3 * std::ssize(items_);
  for (Item& item : items_) {
    const double* shares = &shares_[item.row * dimensions_];
    item.size = 0;
    for (size_t d = 0; d < dimensions_; ++d) {
      item.size += weights[d] * shares[d];
    }
    // Items that only have value through others come last.
    item.density = item.value <= 0 ? item.value
                   : item.size > 0 ? item.value / item.size
                                   : std::numeric_limits<double>::infinity();
  }
  std::ranges::sort(items_, [](const Item& a, const Item& b) {
    return a.density != b.density ? a.density > b.density
                                  : a.task_class < b.task_class;
  });
  double room = 1;
  double value = 0;
  for (const Item& item : items_) {
    if (item.value <= 0) continue;
    const double fit =
        item.size <= 0
            ? static_cast<double>(item.limit)
            : std::min(room / item.size, static_cast<double>(item.limit));
    value += fit * item.value;
    room -= fit * item.size;
    if (used != nullptr) {
      const double* shares = &shares_[item.row * dimensions_];
      for (size_t d = 0; d < dimensions_; ++d) (*used)[d] += fit * shares[d];
    }
    if (room <= 0) break;
  }
  return value;
}

// Moves weight from the dimensions used least to those used most.
void MachineFilling::ChooseWeights(std::vector<double>* weights) {
  if (weights->empty()) {
    weights->assign(dimensions_, 0);
    double count = 0;
    for (size_t d = 0; d < dimensions_; ++d) {
      const bool is_asked = std::ranges::any_of(
          items_, [&](const Item& item) { return RequestOf(item)[d] > 0; });
      if (is_asked) (*weights)[d] = ++count > 0 ? 1 : 0;
    }
    for (double& weight : *weights) weight /= std::max(count, 1.0);
  }
  std::vector<double> best = *weights;
  std::vector<double> used;
  double best_value = std::numeric_limits<double>::max();
  double step = 0.25;
  size_t last = dimensions_;
  for (int i = 0; i < kWeightSteps; ++i) {
    used.assign(dimensions_, 0);
    const double value = Relax(*weights, &used);
    if (value < best_value) {
      best_value = value;
      best = *weights;
    }
    const auto most =
        static_cast<size_t>(std::ranges::max_element(used) - used.begin());
    if (used[most] <= 1 + 1e-9) break;  // It fits: the bound is met.
    if (last != dimensions_ && most != last) step /= 2;
    last = most;
    double moved = 0;
    for (size_t d = 0; d < dimensions_; ++d) {
      if (d == most) continue;
      const double given = (*weights)[d] * step;
      (*weights)[d] -= given;
      moved += given;
    }
    if (moved < 1e-9) break;
    (*weights)[most] += moved;
  }
  *weights = best;
}

double MachineFilling::Fractional(size_t next, double room) const {
  double value = 0;
  for (size_t i = next; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!FitsBesides(item) || item.value <= 0 || !MayHaveCompany(i, next)) {
      continue;
    }
    const auto limit = static_cast<double>(item.limit);
    const double size = item.size * limit;
    if (size > room) return value + item.value * room / item.size;
    value += item.value * limit;
    room -= size;
  }
  return value;
}

bool MachineFilling::MayBeat(size_t next, double value, double room) const {
  if (next == items_.size()) return false;
  const double rest = std::max(room, 0.0) * items_[next].density;
  return !(value + rest <= best_value_ * (1 + kRounding));
}

void MachineFilling::CountApart(size_t task_class, int change) {
  const std::vector<size_t>& apart_from =
      problem_.classes[task_class].apart_from;
  work_ += std::ssize(apart_from) / 8;
  for (const size_t other : apart_from) apart_[other] += change;
}

template <class Condition>
bool MachineFilling::AnyCompany(const Item& item, Condition is_company) const {
  return std::ranges::any_of(
      problem_.classes[item.task_class].company, [&](size_t c) {
        return item_of_[c].has_value() && is_company(*item_of_[c]);
      });
}

bool MachineFilling::HasCompany(size_t item) const {
  return !items_[item].needs_company ||
         AnyCompany(items_[item],
                    [&](size_t other) { return chosen_[other] > 0; });
}

inline bool MachineFilling::MayHaveCompany(size_t item, size_t next) const {
  return !items_[item].needs_company ||
         AnyCompany(items_[item], [&](size_t other) {
           return chosen_[other] > 0 || (other >= next && HasRoomFor(other));
         });
}

inline bool MachineFilling::FitsBesides(const Item& item) const {
  const int64_t* request = RequestOf(item);
  bool fits = apart_[item.task_class] == 0;
  for (size_t d = 0; d < dimensions_; ++d) fits &= request[d] <= left_[d];
  return fits;
}

int64_t MachineFilling::RoomFor(size_t item) const {
  if (apart_[items_[item].task_class] > 0) return 0;
  const int64_t* request = RequestOf(items_[item]);
  int64_t room = items_[item].limit - chosen_[item];
  for (size_t d = 0; d < dimensions_ && room > 0; ++d) {
    if (request[d] > 0) room = std::min(room, left_[d] / request[d]);
  }
  return room;
}

void MachineFilling::Choose(size_t item, int64_t count) {
  const int64_t* request = RequestOf(items_[item]);
  for (size_t d = 0; d < dimensions_; ++d) left_[d] -= count * request[d];
  chosen_[item] += count;
}

void MachineFilling::Search(size_t next, double value, double room) {
  if (value > best_value_) {
    best_value_ = value;
    best_ = chosen_;
  }
  if (!MayBeat(next, value, room)) return;
  work_ += 4;
  const double bound = value + Fractional(next, std::max(room, 0.0));
  if (bound <= best_value_ * (1 + kRounding)) return;
  if (--nodes_left_ < 0) {
    open_bound_ = std::max(open_bound_, bound);
    return;
  }
  while (next < items_.size() &&
         (items_[next].value <= 0 || !HasRoomFor(next) ||
          !MayHaveCompany(next, next))) {
    ++next;
  }
  if (next == items_.size()) return;
  if (HasCompany(next)) {
    SearchCounts(next, value, room, 0, bound);
  } else {
    SearchWithCompany(next, next, value, room, bound);
    Search(next + 1, value, room);
  }
}

void MachineFilling::SearchWithCompany(size_t next, size_t lonely, double value,
                                       double room, double bound) {
  for (const size_t c : problem_.classes[items_[lonely].task_class].company) {
    const std::optional<size_t> other = item_of_[c];
    if (!other.has_value() || *other < next || !HasRoomFor(*other)) continue;
    if (--work_left_ < 0) {
      open_bound_ = std::max(open_bound_, bound);
      return;
    }
    const double value_with = value + items_[*other].value;
    const double room_with = room - items_[*other].size;
    Choose(*other, 1);
    CountApart(c, 1);
    if (HasCompany(*other)) {
      SearchCounts(next, value_with, room_with, 1, bound);
    } else {
      SearchWithCompany(next, *other, value_with, room_with, bound);
    }
    CountApart(c, -1);
    Choose(*other, -1);
  }
}

void MachineFilling::SearchCounts(size_t next, double value, double room,
                                  int64_t least, double bound) {
  const Item& item = items_[next];
  int64_t count = RoomFor(next);
  if (count < least) return;
  Choose(next, count);
  CountApart(item.task_class, 1);
  for (; count >= least; --count) {
    if (count == 0) CountApart(item.task_class, -1);
    if (--work_left_ < 0) {
      // Cuts off the rest.
      open_bound_ = std::max(open_bound_, bound);
      break;
    }
    const auto taken = static_cast<double>(count);
    const double value_with = value + taken * item.value;
    const double room_with = room - taken * item.size;
    Search(next + 1, value_with, room_with);
    // What follows is worth no more per size, so fewer are hopeless, too.
    if (count == least || !MayBeat(next + 1, value_with, room_with)) break;
    Choose(next, -1);
  }
  if (count > 0) CountApart(item.task_class, -1);
  Choose(next, -count);
}

Filling MachineFilling::Fill(size_t group, std::span<const double> values,
                             std::span<const int64_t> counts, Effort effort,
                             std::span<const double> moved) {
  group_ = &problem_.groups[group];
  CollectItems(values, moved, counts);
  Filling filling;
  if (items_.empty()) return filling;
  ChooseWeights(&weights_[group]);
  const double relaxed = Relax(weights_[group], nullptr);
  left_ = group_->free;
  chosen_.assign(items_.size(), 0);
  if (has_company_) {
    item_of_.assign(problem_.classes.size(), std::nullopt);
    for (size_t i = 0; i < items_.size(); ++i) {
      item_of_[items_[i].task_class] = i;
    }
  }
  best_ = chosen_;
  best_value_ = 0;
  open_bound_ = 0;
  nodes_left_ = effort == Effort::kRough ? kRoughNodes : kExactNodes;
  work_left_ = kWorkPerNode * nodes_left_;
  Search(0, 0, 1);
  filling.tasks = TasksOf(best_);
  filling.value = best_value_;
  filling.bound = std::max(best_value_, std::min(open_bound_, relaxed)) *
                  (1 + 2 * kRounding);
  if (effort == Effort::kExact && open_bound_ > best_value_) {
    FillByGrid(&filling);
  }
  return filling;
}

std::vector<double> MachineFilling::PricesBySize(
    size_t group, std::span<const double> values,
    std::span<const int64_t> counts) {
  group_ = &problem_.groups[group];
  CollectItems(values, {}, counts);
  std::vector<double> prices(problem_.classes.size(), 0);
  if (items_.empty()) return prices;
  ChooseWeights(&weights_[group]);
  Relax(weights_[group], nullptr);
  double room = 1;
  double density = 0;
  for (const Item& item : items_) {
    room -= item.size * static_cast<double>(item.limit);
    if (room >= 0 || item.size <= 0) continue;
    density = item.value / item.size;
    break;
  }
  for (const Item& item : items_) {
    prices[item.task_class] = density * item.size;
  }
  return prices;
}

bool MachineFilling::FindBinding(std::vector<size_t>* binding) const {
  const auto request = [&](const Item& item, size_t d) {
    return RequestOf(item)[d];
  };
  std::vector<bool> is_left_out(dimensions_, false);
  for (size_t d = 0; d < dimensions_; ++d) {
    int64_t most = 0;
    for (const Item& item : items_) most = std::max(most, request(item, d));
    if (most == 0) continue;
    // How many tasks fit by their requests in another dimension, without those
    // that may themselves be limited by this one.
    int64_t tasks = std::numeric_limits<int64_t>::max() / most;
    for (size_t other = 0; other < dimensions_; ++other) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (const Item& item : items_) {
        least = std::min(least, request(item, other));
      }
      if (other == d || least == 0 || is_left_out[other]) continue;
      tasks = std::min(tasks, group_->free[other] / least);
    }
    is_left_out[d] = tasks * most <= group_->free[d];
    if (!is_left_out[d]) binding->push_back(d);
  }
  return binding->size() <= 2;
}

void MachineFilling::FillByGrid(Filling* filling) {
  std::vector<size_t> binding;
  if (!FindBinding(&binding) || binding.empty()) return;
  if (binding.size() == 1) binding.push_back(binding[0]);
  std::array<int64_t, 2> unit = {0, 0};
  for (size_t i = 0; i < 2; ++i) {
    for (const Item& item : items_) {
      unit[i] = std::gcd(unit[i], RequestOf(item)[binding[i]]);
    }
  }
  const int64_t width = group_->free[binding[1]] / unit[1] + 1;
  const int64_t height = group_->free[binding[0]] / unit[0] + 1;
  if (height > kGridMax / width ||
      height * width > kGridMax / std::ssize(items_)) {
    return;
  }
  const auto cells = static_cast<size_t>(height * width);
  work_ += static_cast<int64_t>(cells) * std::ssize(items_) / 4;
  std::vector<double> value(cells, 0);
  std::vector<int32_t> last(cells, -1);  // The item that a cell ends with.
  std::vector<int64_t> offsets;
  double for_nothing = 0;  // Of items without a request.
  for (size_t i = 0; i < items_.size(); ++i) {
    const int64_t* request = RequestOf(items_[i]);
    const int64_t down = request[binding[0]] / unit[0];
    const int64_t right = request[binding[1]] / unit[1];
    offsets.push_back(down * width + right);
    if (offsets[i] == 0) {
      for_nothing +=
          static_cast<double>(items_[i].limit) * std::max(items_[i].value, 0.0);
      continue;
    }
    for (int64_t y = down; y < height; ++y) {
      for (int64_t x = right; x < width; ++x) {
        const auto cell = static_cast<size_t>(y * width + x);
        const double with =
            value[cell - static_cast<size_t>(offsets[i])] + items_[i].value;
        if (with <= value[cell]) continue;
        value[cell] = with;
        last[cell] = static_cast<int32_t>(i);
      }
    }
  }
  const double most = value.back() + for_nothing;
  filling->bound = std::min(filling->bound, most * (1 + kRounding));
  if (most <= filling->value) return;
  std::vector<int64_t> taken(items_.size(), 0);
  for (size_t i = 0; i < items_.size(); ++i) {
    if (offsets[i] == 0 && items_[i].value > 0) taken[i] = items_[i].limit;
  }
  for (size_t cell = cells - 1; last[cell] >= 0;) {
    const auto item = static_cast<size_t>(last[cell]);
    ++taken[item];
    cell -= static_cast<size_t>(offsets[item]);
  }
  filling->bound = std::max(filling->bound, filling->value);
  if (!IsAllowed(taken)) return;
  filling->tasks = TasksOf(taken);
  filling->value = most;
}

std::vector<std::pair<size_t, int64_t>> MachineFilling::TasksOf(
    std::span<const int64_t> counts) const {
  std::vector<std::pair<size_t, int64_t>> tasks;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (counts[i] > 0) tasks.emplace_back(items_[i].task_class, counts[i]);
  }
  std::ranges::sort(tasks);
  // A class that may move has two items.
  size_t size = 0;
  for (const auto& [c, count] : tasks) {
    if (size > 0 && tasks[size - 1].first == c) {
      tasks[size - 1].second += count;
    } else {
      tasks[size++] = {c, count};
    }
  }
  tasks.resize(size);
  return tasks;
}

bool MachineFilling::IsAllowed(std::span<const int64_t> counts) const {
  for (size_t i = 0; i < items_.size(); ++i) {
    if (counts[i] == 0) continue;
    if (counts[i] > items_[i].limit) return false;
    const PackingClass& one = problem_.classes[items_[i].task_class];
    for (size_t j = 0; j < i; ++j) {
      if (counts[j] > 0 && one.IsApartFrom(items_[j].task_class)) return false;
    }
    if (items_[i].needs_company &&
        !AnyCompany(items_[i], [&](size_t j) { return counts[j] > 0; })) {
      return false;
    }
  }
  return true;
}

}  // namespace sluice
