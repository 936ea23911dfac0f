#include "base/document/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/limits.hpp"

namespace sb {
namespace {

constexpr std::string_view kMoreFaults = "more_faults";

}  // namespace

void add_fault(Faults& faults, Error fault) {
  if (faults.size() > limits::kFaults) return;
  if (faults.size() < limits::kFaults) return faults.push_back(std::move(fault));
  faults.push_back({ErrorCode::kLimit,
                    fmt::format("only {} faults are shown", limits::kFaults),
                    "Fix these and check again",
                    {std::move(fault.location.file), "", 0, 0},
                    false,
                    kMoreFaults});
}

void sort_faults(Faults& faults) {
  std::ranges::stable_sort(faults, {}, [](const Error& fault) {
    return std::tuple(fault.rule == kMoreFaults, fault.location.line, fault.location.column);
  });
}

}  // namespace sb
