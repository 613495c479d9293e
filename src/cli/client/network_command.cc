#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "base/flag_set.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/quantity.h"
#include "cli/base/table.h"
#include "cli/client/commands.h"
#include "cli/client/connection.h"
#include "cli/client/network_text.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {
namespace {

using v1::RoundNetwork;

constexpr Command::Text kText = {
    .name = "network",
    .arguments = "",
    .summary = "Shows the flow networks of the last round, as they were solved",
    .description =
        R"(Shows the networks of the newest round that solved any, one for each pass:
classes of tasks, machines, where tasks wait, and the arcs between them with
their bounds, costs and flow.  Costs are in 128ths of a point of the policies;
--format=dot has points.  A pass with gains proves a bound and places nothing:
units become amounts of a resource, and costs have units of their own.  The
daemon keeps rounds of up to --network_arcs_max arcs and cost segments.

  sluicectl network --format=dot | dot -Tsvg > network.svg
  sluicectl network --format=dimacs --pass=1 | sluicectl solve -
)"};

int64_t SupplyOf(const RoundNetwork::Pass& pass) {
  int64_t supply = 0;
  for (const RoundNetwork::Node& node : pass.nodes()) {
    if (node.supply() > 0) supply += node.supply();
  }
  return supply;
}

std::string CostText(const RoundNetwork::Pass& pass) {
  if (pass.has_real_cost()) return FormatDecimal(pass.real_cost());
  return pass.has_cost() ? StrCat(pass.cost()) : "not solved";
}

// The flow to the nodes at which tasks wait.
int64_t WaitingIn(const RoundNetwork::Pass& pass) {
  int64_t waiting = 0;
  for (const RoundNetwork::Arc& arc : pass.arcs()) {
    if (pass.nodes(arc.head()).kind() == RoundNetwork::Node::UNSCHEDULED) {
      waiting += arc.flow();
    }
  }
  return waiting;
}

void PrintPasses(const RoundNetwork& network, std::ostream& out) {
  if (network.round() == 0) {
    out << "no round has solved a network yet\n";
    return;
  }
  Table table({{"PASS", Align::kRight},
               {"NODES", Align::kRight},
               {"ARCS", Align::kRight},
               {"TASKS", Align::kRight},
               {"PLACED", Align::kRight},
               {"COST", Align::kRight}});
  for (int i = 0; i < network.passes_size(); ++i) {
    const RoundNetwork::Pass& pass = network.passes(i);
    const int64_t tasks = SupplyOf(pass);
    table.AddRow({StrCat(i + 1), StrCat(pass.nodes_size()),
                  StrCat(pass.arcs_size()), StrCat(tasks),
                  pass.has_real_cost() ? "bound"
                  : pass.has_cost()    ? StrCat(tasks - WaitingIn(pass))
                                       : "?",
                  CostText(pass)});
  }
  out << "round " << network.round() << '\n';
  table.Print(out);
  if (network.left_out() > 0) {
    out << network.left_out() << " more have too many arcs to be kept: see "
        << "--network_arcs_max of the daemon, which is " << network.arcs_max()
        << '\n';
  }
}

class NetworkCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    flags.AddChoice({.name = "format",
                     .value = "FORMAT",
                     .help = "table: a line for each pass; the default.\n"
                             "dot: for Graphviz.\n"
                             "dimacs: for sluicectl solve.\n"
                             "plain_dimacs: for other programs: each step of "
                             "a cost is an arc.\n"
                             "json: all there is, as with --output=json."},
                    {"table", "dot", "dimacs", "plain_dimacs", "json"},
                    &format_);
    flags.AddChoice({.name = "round",
                     .value = "ROUND",
                     .help = "last: the newest that solved any."},
                    {"last"}, &round_);
    flags.AddInteger(
        {.name = "pass",
         .value = "N",
         .help = "Shows only this pass, counted from 1; 0 is all (0)."},
        {0, INT32_MAX}, &pass_);
  }
  absl::Status Run(const CommandContext& context) override {
    Connection connection(context.options);
    ASSIGN_OR_RETURN(RoundNetwork network, connection.GetNetwork());
    if (network.arcs_max() == 0) {
      return absl::FailedPreconditionError(
          "the daemon keeps no networks: its --network_arcs_max is 0");
    }
    if (pass_ > network.passes_size()) {
      return absl::NotFoundError(StrCat("there is no pass ", pass_,
                                        ": the round has ",
                                        network.passes_size()));
    }
    if (pass_ > 0) {
      RoundNetwork::Pass only = network.passes(static_cast<int>(pass_) - 1);
      network.clear_passes();
      *network.add_passes() = std::move(only);
    }
    return Print(network, context);
  }

 private:
  absl::Status Print(const RoundNetwork& network,
                     const CommandContext& context) const {
    std::ostream& out = context.console.out;
    if (context.options.wants_json() || format_ == "json") {
      out << JsonOf(network, JsonLayout::kIndented) << '\n';
    } else if (format_ == "table") {
      PrintPasses(network, out);
    } else if (format_ == "dot") {
      for (int i = 0; i < network.passes_size(); ++i) {
        const int64_t pass = pass_ > 0 ? pass_ : i + 1;
        out << DotOf(network.passes(i),
                     StrCat("round ", network.round(), " pass ", pass));
      }
    } else if (network.passes_size() != 1) {
      return absl::InvalidArgumentError(
          StrCat("a DIMACS file has one problem: choose one of the ",
                 network.passes_size(), " passes with --pass"));
    } else {
      ASSIGN_OR_RETURN(const std::string text,
                       format_ == "dimacs" ? DimacsOf(network.passes(0))
                                           : PlainDimacsOf(network.passes(0)));
      out << text;
    }
    return absl::OkStatus();
  }

  std::string format_ = "table";
  std::string round_ = "last";
  int64_t pass_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeNetworkCommand() {
  return std::make_unique<NetworkCommand>();
}

}  // namespace sluice
