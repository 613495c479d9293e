#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/table.h"
#include "cli/client/answer.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "job",
    .arguments = "ID",
    .summary = "Shows a job and how many of its tasks wait, run, or have ended",
    .description =
        R"(Shows the job with the uuid or the name ID: how many of its tasks are in each
state, for a gang how many of them run together or not at all, and the ids of
its first 1000 tasks: their uids, or what their feed calls them.
)",
    .example = "sluicectl job training"};

void PrintJob(const v1::Job& job, std::ostream& out) {
  Table table({{"JOB"}, {job.name()}});
  table.AddRow({"uuid", job.uuid()});
  std::string state = v1::Job::State_Name(job.state());
  std::ranges::transform(state, state.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  table.AddRow({"state", state});
  table.AddRow({"pending", StrCat(job.pending_tasks())});
  if (job.backoff_tasks() > 0) {
    table.AddRow({"of these in backoff", StrCat(job.backoff_tasks())});
  }
  table.AddRow({"running", StrCat(job.running_tasks())});
  table.AddRow({"completed", StrCat(job.completed_tasks())});
  table.AddRow({"failed", StrCat(job.failed_tasks())});
  table.AddRow({"quarantined", StrCat(job.quarantined_tasks())});
  if (!job.gang().empty()) table.AddRow({"gang", job.gang()});
  if (!job.gang_group().empty()) table.AddRow({"group", job.gang_group()});
  if (!job.on_failure().empty()) {
    table.AddRow({"on failure", job.on_failure()});
  }
  table.Print(out);
  out << "\nTASKS\n";
  for (const std::string& id : job.task_ids()) out << id << '\n';
}

class JobCommand final : public Command {
 public:
  Text text() const override { return kText; }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    id_ = std::move(arguments.front());
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    v1::GetJobRequest request;
    request.set_job(id_);
    ASSIGN_OR_RETURN(const v1::Job job, connection.GetJob(request));
    PrintAnswer(context, job, &PrintJob);
    return absl::OkStatus();
  }

 private:
  std::string id_;
};

}  // namespace

std::unique_ptr<Command> MakeJobCommand() {
  return std::make_unique<JobCommand>();
}

}  // namespace sluice
