// Host ports: no port of the machine that the task wants to listen on is taken
// (Kubernetes: NodePorts).

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "sluice/constraints/constraint.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 64;  // Of a protocol or address.

bool IsAmong(const std::vector<HostPort>& ports, const HostPort& port) {
  return std::ranges::any_of(
      ports, [&](const HostPort& one) { return port.ConflictsWith(one); });
}

bool IsTaken(const HostPort& port, const Machine& machine) {
  return IsAmong(machine.used_host_ports, port) ||
         IsAmong(machine.kept_host_ports, port);
}

// "8080/TCP", "10.0.0.1:8080/TCP", "[::1]:8080/TCP".
std::string PortText(const HostPort& port) {
  std::string number =
      StrCat(port.port, "/", Printable(port.protocol, kShownBytes));
  if (port.IsOnAllAddresses()) return number;
  const std::string address = Printable(port.address, kShownBytes);
  return address.find(':') == std::string::npos
             ? StrCat(address, ":", number)
             : StrCat("[", address, "]:", number);
}

class HostPorts : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    return std::ranges::none_of(
        task_class.rules->host_ports,
        [&](const HostPort& port) { return IsTaken(port, machine); });
  }

  bool Concerns(const ClassKey& task_class) const override {
    return !task_class.rules->host_ports.empty();
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& /*resource_name*/,
      std::vector<Reason>* reasons) const override {
    for (const HostPort& port : task_class.rules->host_ports) {
      if (!IsTaken(port, machine)) continue;
      const std::string shown = PortText(port);
      const bool is_used = IsAmong(machine.used_host_ports, port);
      reasons->push_back({"host_port_in_use",
                          StrCat("had the host port ", shown, " in use"),
                          is_used ? StrCat("lacks a free host port ", shown)
                                  : StrCat("keeps the host port ", shown,
                                           " for a task that is to come")});
    }
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_host_ports() {
  return std::make_unique<HostPorts>();
}

}  // namespace sluice
