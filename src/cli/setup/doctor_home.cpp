// Doctor: home folders, configuration, store and keys.
#include <fmt/format.h>

#include <algorithm>

#include "cli/setup/disk_facts.hpp"
#include "cli/setup/doctor.hpp"
#include "engine/state/keyring.hpp"
#include "inbox/config.hpp"
#include "inbox/home.hpp"
#include "inbox/operators/key_files.hpp"
#include "pipeline/settings/run_settings.hpp"
#include "store/checks.hpp"
#include "store/sqlite/inspect.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sb::cli {
namespace {

constexpr std::uint64_t kLeastBytes = 64u << 20;
constexpr std::uint64_t kFewBytes = 1u << 30;
constexpr int kStoreWaitMs = 2'000;

Diagnosis wrong(std::string what, std::string remedy) {
  return {Health::kError, std::move(what), std::move(remedy)};
}

Diagnosis wrong(const Error& error) {
  Error without = error;
  without.remedy.clear();
  return wrong(without.to_string(), error.remedy);
}

Diagnosis note(std::string what, std::string remedy = {}) {
  return {Health::kWarning, std::move(what), std::move(remedy)};
}

struct HomeCheck {
  std::string path;
  bool holds_store = false;
};

std::vector<HomeCheck> homes_of(const HomeDirectories& homes) {
  std::vector<HomeCheck> all = {{homes.data, true}};
  for (const std::string& path : {homes.config, homes.state}) {
    if (std::ranges::find(all, path, &HomeCheck::path) == all.end()) all.push_back({path, false});
  }
  return all;
}

constexpr std::string_view kElsewhere = "or set SIGNALBOX_HOME to another folder";

// The nearest existing parent folder, where missing folders would be created.
std::string nearest_existing(const std::string& path) {
  std::string folder = parent_path(path);
  while (!folder.empty() && folder != "/" && disk_facts(folder).kind == FileKind::kMissing)
    folder = parent_path(folder);
  return folder.empty() ? "." : folder;
}

std::optional<Diagnosis> unusable(const std::string& path, const DiskFacts& facts) {
  if (facts.kind != FileKind::kDirectory) {
    return wrong(fmt::format("{} is not a folder", path), fmt::format("Move it, {}", kElsewhere));
  }
  if (facts.disk == DiskKind::kKernel || facts.is_read_only) {
    return wrong(fmt::format("{} is on a read-only file system", path), "Set SIGNALBOX_HOME to another folder");
  }
  if (facts.is_writable) return std::nullopt;
  const std::string_view command = facts.is_owned_by_user ? "chmod u+rwx" : "change its owner to you:";
  return wrong(fmt::format("{} is not writable", path), fmt::format("{} {}, {}", command, path, kElsewhere));
}

Diagnosis missing_home(const std::string& path) {
  const std::string above = nearest_existing(path);
  if (auto finding = unusable(above, disk_facts(above))) {
    finding->what = fmt::format("{} does not exist and cannot be created: {}", path, finding->what);
    return *finding;
  }
  return note(fmt::format("{} does not exist yet; it is created when needed", path));
}

void check_folder(const HomeCheck& home, const DiskFacts& facts, Diagnoses& findings) {
  const std::string& path = home.path;
  if ((facts.mode & 0022) != 0) {
    findings.push_back(
        wrong(fmt::format("others can write to {} (mode {:o})", path, facts.mode), fmt::format("chmod go-w {}", path)));
  } else if (home.holds_store && (facts.mode & 0055) != 0) {
    findings.push_back(
        note(fmt::format("others can read {} (mode {:o})", path, facts.mode), fmt::format("chmod 700 {}", path)));
  }
  if (home.holds_store && facts.disk == DiskKind::kNetwork) {
    findings.push_back(wrong(fmt::format("{} is on a network file system, where the store cannot lock", path),
                             "Set SIGNALBOX_HOME to a folder on a local disk"));
  }
  if (home.holds_store && facts.disk == DiskKind::kMemory) {
    findings.push_back(note(fmt::format("{} is in memory and lost when the machine restarts", path)));
  }
  if (facts.free_bytes < kLeastBytes || !facts.has_free_files) {
    findings.push_back(wrong(fmt::format("the disk of {} is full ({} left)", path, readable_size(facts.free_bytes)),
                             "Free some space"));
  } else if (facts.free_bytes < kFewBytes) {
    findings.push_back(
        note(fmt::format("the disk of {} has only {} left", path, readable_size(facts.free_bytes)), "Free some space"));
  }
}

std::string store_path(const DoctorInput& input) {
  return inbox::store_path(*input.homes);
}

// Nothing if opening would create a file: the store creates its shared memory file if it is missing.
std::optional<Result<std::unique_ptr<store::SqliteStore>>> open_store(const DoctorInput& input) {
  const std::string path = store_path(input);
  if (input.seams.files.kind(path + "-shm") != FileKind::kFile) return std::nullopt;
  return store::SqliteStore::open(path, store::Access::kReadOnly, {.busy_wait_ms = kStoreWaitMs, .vfs = {}});
}

// A user who can write to the store can answer and approve. The write-ahead log is part of the store.
Diagnoses open_to_others(const DoctorInput& input) {
  Diagnoses findings;
  for (const std::string_view end : {"", "-wal", "-shm"}) {
    const std::string path = store_path(input) + std::string(end);
    const DiskFacts facts = disk_facts(path);
    if (facts.kind == FileKind::kMissing || (facts.mode & 0022) == 0) continue;
    findings.push_back(
        wrong(fmt::format("others can write to {} (mode {:o})", path, facts.mode), fmt::format("chmod 600 {}", path)));
  }
  return findings;
}

Diagnoses session_keys(const DoctorInput& input) {
  const auto inspection = store::inspect_store(store_path(input));
  if (!inspection || inspection->version != inspection->newest) return {};
  const auto store = open_store(input);
  if (!store || !*store) return {};  // reported by check_store
  engine::Keyring keys;
  const Status read = (**store)->read([&](store::Snapshot& snapshot) { return keys.load(snapshot); });
  if (!read) return {wrong(read.error().to_string(), "Create new ones: signalbox session rotate-keys")};
  return {{Health::kOk, keys.empty() ? "no session keys yet" : "the keys of session tokens are readable"}};
}

// The keys are sealed, but a user who can read them can try passphrases.
void check_key_files(const DoctorInput& input, Diagnoses& findings) {
  const std::string folder = join_path(input.homes->data, "operators");
  const auto names = input.seams.files.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = join_path(folder, name);
    const DiskFacts facts = disk_facts(path);
    const bool is_key = name.ends_with(".key") && facts.kind == FileKind::kFile;
    if (!is_key || (facts.mode & 0077) == 0) continue;
    findings.push_back(
        wrong(fmt::format("others can read {} (mode {:o})", path, facts.mode), fmt::format("chmod 600 {}", path)));
  }
}

}  // namespace

Diagnoses check_home(const DoctorInput& input) {
  if (!input.homes) {
    return {wrong("neither SIGNALBOX_HOME nor HOME is set", "Set SIGNALBOX_HOME to a folder you own")};
  }
  Diagnoses findings;
  for (const HomeCheck& home : homes_of(*input.homes)) {
    const DiskFacts facts = disk_facts(home.path);
    if (facts.kind == FileKind::kMissing) {
      findings.push_back(missing_home(home.path));
    } else if (auto finding = unusable(home.path, facts)) {
      findings.push_back(*finding);
    } else {
      const std::size_t before = findings.size();
      check_folder(home, facts, findings);
      if (findings.size() > before) continue;
      findings.push_back({Health::kOk, fmt::format("{}, {} free", home.path, readable_size(facts.free_bytes))});
    }
  }
  return findings;
}

Diagnoses check_configuration(const DoctorInput& input) {
  if (!input.homes) return {};
  const std::string path = join_path(input.homes->config, "config.yaml");
  const auto document = inbox::load_if_exists(input.seams.files, path);
  if (!document) return {wrong(document.error())};
  if (!*document) return {{Health::kOk, "no config file; using defaults"}};
  pipeline::RunSettings settings;
  Faults faults;
  pipeline::read_settings(**document, pipeline::SettingsOrigin::kUser, input.homes->config, settings, faults);
  Diagnoses findings;
  for (const Error& fault : faults) findings.push_back(wrong(fault));
  if (!findings.empty()) return findings;
  return {{Health::kOk, path}};
}

Diagnoses check_store(const DoctorInput& input) {
  if (!input.homes) return {};
  const std::string path = store_path(input);
  const auto found = store::inspect_store(path);
  if (!found && found.error().code == ErrorCode::kNotFound) return {{Health::kOk, "nothing is stored yet"}};
  if (!found) return {wrong(found.error())};
  if (found->version > found->newest) {
    return {wrong(fmt::format("{} has version {}; this program supports up to {}", path, found->version, found->newest),
                  "Use the newer signalbox that wrote it")};
  }
  Diagnoses findings = open_to_others(input);
  for (const std::string& fault : found->faults) {
    findings.push_back(wrong(fmt::format("{} is damaged: {}", path, fault), std::string(store::kRepairRemedy)));
  }
  if (!findings.empty()) return findings;
  const std::string size = fmt::format("{}, version {}, {}", path, found->version, readable_size(found->bytes));
  if (found->version < found->newest) return {note(size + "; it is upgraded at the next write")};
  // Also finds losses in the write-ahead log.
  if (const auto store = open_store(input); store && !*store) return {wrong(store->error())};
  if (!found->is_checked) return {note(size + "; too large for a quick check", "signalbox store verify")};
  if (!found->has_log_read) return {note(size + "; its log was not checked, because no process has the store open")};
  return {{Health::kOk, size}};
}

Diagnoses check_keys(const DoctorInput& input) {
  if (!input.homes) return {};
  Diagnoses findings = session_keys(input);
  const auto operators = inbox::OperatorFiles(input.seams.files, *input.homes).load();
  if (!operators) {
    findings.push_back(wrong(operators.error()));
  } else if (operators->empty()) {
    findings.push_back(note("no operator key: irreversible actions cannot be approved", "signalbox operator init"));
  } else {
    std::string names;
    for (const inbox::OperatorKey& key : operators->keys()) names += (names.empty() ? "" : ", ") + key.name;
    findings.push_back({Health::kOk, fmt::format("operators: {}", names)});
  }
  check_key_files(input, findings);
  return findings;
}

}  // namespace sb::cli
