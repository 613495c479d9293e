// Resource fit: every resource that a task asks for is free on the machine, to
// the last unit (an exact fit fits).  Other resources are ignored, and a
// machine has none of a resource that it does not state (Kubernetes:
// NodeResourcesFit).

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "sluice/constraints/constraint.h"

namespace sluice {
namespace {

// "1500m cpu", "2.5 GiB memory", "3 nvidia.com/gpu".
std::string Amount(ResourceIndex index, int64_t amount,
                   const std::string& name) {
  if (index == kCpu) return StrCat(amount, "m ", name);
  if (index != kMemory && index != kEphemeralStorage) {
    return StrCat(amount, " ", name);
  }
  const int64_t bytes = (amount + 999) / 1000;
  constexpr int64_t kMebibyte = 1 << 20;
  if (bytes < kMebibyte) return StrCat(bytes, " bytes ", name);
  return StrCat((bytes + kMebibyte - 1) / kMebibyte, " MiB ", name);
}

class ResourceFit : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    const Resources& request = task_class.request;
    for (ResourceIndex i = 0; i < request.size(); ++i) {
      if (request[i] > 0 && request[i] > machine.FreeOf(i)) return false;
    }
    return true;
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const override {
    const Resources& request = task_class.request;
    const Resources free = machine.Free();
    const Resources unused = machine.Offered() - machine.used;
    if (request.FitsIn(unused) && !request.FitsIn(free)) {
      reasons->push_back({"room_kept", "keeping room for others",
                          "keeps the room for others to come"});
      return;
    }
    for (ResourceIndex i = 0; i < request.size(); ++i) {
      if (request[i] <= 0 || request[i] <= free[i]) continue;
      const std::string& name = resource_name(i);
      reasons->push_back(
          {StrCat("insufficient_", name),
           i == kPods ? "too many pods" : StrCat("insufficient ", name),
           StrCat("lacks ", Amount(i, request[i] - free[i], name))});
    }
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_resource_fit() {
  return std::make_unique<ResourceFit>();
}

}  // namespace sluice
