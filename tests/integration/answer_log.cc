#include "integration/answer_log.h"

#include <algorithm>

#include "base/strings.h"

namespace sluice {
namespace {

constexpr int64_t kAwaitUs = 10'000;

using Process = std::pair<size_t, int64_t>;

}  // namespace

void AnswerLog::Note(const Answer& answer) {
  {
    const MutexLock lock(mutex_);
    answers_.push_back(answer);
    if (!newest_.has_value() || newest_->end_us < answer.end_us) {
      newest_ = answer;
    }
  }
  has_more_.NotifyAll();
}

std::optional<Answer> AnswerLog::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

void AnswerLog::Await() const {
  const MutexLock lock(mutex_);
  has_more_.WaitFor(mutex_, kAwaitUs);
}

std::vector<std::pair<int64_t, Process>> AnswerLog::Leaders() const {
  std::map<Process, int64_t> first_us;
  for (const Answer& answer : answers_) {
    const auto [at, is_new] = first_us.try_emplace(
        Process{answer.replica, answer.life}, answer.end_us);
    at->second = std::min(at->second, answer.end_us);
  }
  std::vector<std::pair<int64_t, Process>> leaders;
  for (const auto& [process, us] : first_us) leaders.emplace_back(us, process);
  std::sort(leaders.begin(), leaders.end());
  return leaders;
}

void AnswerLog::ForEachLate(
    const std::function<void(const Answer&, int64_t)>& found) const {
  std::map<Process, int64_t> next_us;
  const auto leaders = Leaders();
  for (size_t i = 0; i + 1 < leaders.size(); ++i) {
    next_us[leaders[i].second] = leaders[i + 1].first;
  }
  for (const Answer& answer : answers_) {
    const auto next = next_us.find({answer.replica, answer.life});
    if (next == next_us.end() || answer.end_us <= next->second) continue;
    found(answer, next->second);
  }
}

std::string AnswerLog::Contradiction() const {
  const MutexLock lock(mutex_);
  std::string text;
  ForEachLate([&](const Answer& answer, int64_t next_us) {
    if (answer.begin_us < next_us || !text.empty()) return;
    text = StrCat("daemon ", answer.replica, " in its life ", answer.life,
                  " answered a call that began ", answer.begin_us - next_us,
                  " us after the next leader had answered, and took ",
                  answer.end_us - answer.begin_us, " us");
  });
  return text;
}

size_t AnswerLog::leaders() const {
  const MutexLock lock(mutex_);
  return Leaders().size();
}

size_t AnswerLog::answers() const {
  const MutexLock lock(mutex_);
  return answers_.size();
}

size_t AnswerLog::late_answers() const {
  const MutexLock lock(mutex_);
  size_t late = 0;
  ForEachLate([&](const Answer&, int64_t) { ++late; });
  return late;
}

}  // namespace sluice
