// Doctor: which gates any process of the user can open.
#include <fmt/format.h>

#include "cli/setup/doctor.hpp"
#include "inbox/config.hpp"
#include "inbox/home.hpp"
#include "inbox/operators/key_files.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sb::cli {
namespace {

constexpr std::size_t kShownGates = 5;
constexpr int kGatesWaitMs = 2'000;

// Nothing where opening the store would create a file.
std::unique_ptr<store::SqliteStore> store_of(const DoctorInput& input) {
  const std::string path = inbox::store_path(*input.homes);
  if (input.seams.files.kind(path + "-shm") != FileKind::kFile) return nullptr;
  auto opened = store::SqliteStore::open(path, store::Access::kReadOnly, {.busy_wait_ms = kGatesWaitMs, .vfs = {}});
  return opened ? std::move(*opened) : nullptr;
}

// The open gates that need no signature.
std::string open_gates(const DoctorInput& input, const inbox::Policy& policy) {
  const auto store = store_of(input);
  const auto operators = inbox::OperatorFiles(input.seams.files, *input.homes).load();
  if (!store || !operators) return {};
  inbox::Inbox inbox(*store, input.seams.clock, input.seams.random, *operators, policy);
  const auto states = inbox.list(false);
  if (!states) return {};
  std::string names;
  std::size_t count = 0;
  for (const inbox::DecisionState& state : *states) {
    if (state.is_damaged || !state.opened.is_gate || state.opened.needs_signature) continue;
    if (++count <= kShownGates) names += fmt::format("{}{}", names.empty() ? "" : ", ", state.id);
  }
  if (count > kShownGates) names += fmt::format(" and {} more", count - kShownGates);
  return names;
}

Diagnosis of_workspace(const std::string& folder) {
  return {Health::kWarning, fmt::format("in {} any shell of your user can open gates, as config.yaml says", folder),
          fmt::format("workspaces: {{{}: {{confirmations: signed}}}}", folder)};
}

}  // namespace

Diagnoses check_gates(const DoctorInput& input) {
  if (!input.homes) return {};
  const auto config = inbox::load_config(input.seams.files, *input.homes);
  if (!config) return {};  // reported with the configuration
  const inbox::Policy& policy = config->policy;
  Diagnoses findings;
  if (policy.strict || policy.confirmations == inbox::Confirmations::kSigned) {
    findings.push_back({Health::kOk, "every gate needs an operator's signature"});
    for (const auto& [folder, says] : policy.confirmations_by_workspace) {
      if (!policy.strict && says != inbox::Confirmations::kSigned) findings.push_back(of_workspace(folder));
    }
  } else {
    findings.push_back({Health::kWarning,
                        "any shell of your user can open: gates of workflows without human_approval, questions of "
                        "stuck sessions, and the questions of runs (merge, design, escalation)",
                        "confirmations: signed in config.yaml makes each need an operator's signature"});
  }
  if (const std::string open = open_gates(input, policy); !open.empty()) {
    findings.push_back({Health::kWarning, fmt::format("open now, without a signature: {}", open),
                        "Answer them: signalbox inbox list"});
  }
  return findings;
}

}  // namespace sb::cli
