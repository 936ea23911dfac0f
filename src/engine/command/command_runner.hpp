// What a submission is checked against outside the store: a step's verification command, run if the user trusts its
// source, and the files that changed.
//
// `/bin/sh -c COMMAND` in the workspace, in the sandbox (sandbox/sandbox.hpp) with no variables but PATH, HOME, LANG
// and TERM. If bubblewrap does not work, the command runs without it, and the record says so. Time and output are
// limited; every process the command started ends with it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/limits.hpp"
#include "base/seams.hpp"
#include "engine/advance/advance.hpp"
#include "inbox/operators/operators.hpp"
#include "sandbox/sandbox.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {

class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  // Never fails: if a command may not run, `not_run_reason` says why.
  // `origins`: every file that the session's workflow was made from and that must be trusted.
  // `should_continue` is called about once a second while the command runs; false ends it. May be empty.
  virtual CommandRun run(const std::string& command, const std::string& workspace,
                         std::span<const workflow::Origin> origins, const std::function<bool()>& should_continue) = 0;
  // Whether what these files say about danger counts: each is bundled, or still the one the session pinned and in a
  // place that the user vouches for (TrustedFolders::may_claim_safety). Where a catalog found it is not enough, because
  // an agent can name and attach folders.
  virtual bool may_claim_safety(std::span<const workflow::Origin> origins) const = 0;
  // engine/command/changed_files.hpp
  virtual std::optional<std::vector<std::string>> changed_files(const std::string& workspace, const std::string& commit,
                                                                TimestampMs since) = 0;
};

struct CommandLimits {
  std::int64_t time_ms = limits::kCommandMs;
  std::size_t output_bytes = limits::kCommandOutputBytes;
};

// Commands of bundled, user, named and managed workflows run; those of a project run only while its folder is trusted
// (inbox/operators/trust.hpp) and the workflow's file is still the one the session pinned.
//
// Whether bubblewrap works is tested once, at the first command. run() may be called from any thread.
class SandboxedCommandRunner final : public CommandRunner {
 public:
  SandboxedCommandRunner(const Seams& seams, const HomeDirectories& homes, const inbox::Operators& operators,
                         CommandLimits limits = {})
      : seams_(seams), homes_(homes), operators_(operators), limits_(limits) {}
  CommandRun run(const std::string& command, const std::string& workspace, std::span<const workflow::Origin> origins,
                 const std::function<bool()>& should_continue) override;
  bool may_claim_safety(std::span<const workflow::Origin> origins) const override;
  std::optional<std::vector<std::string>> changed_files(const std::string& workspace, const std::string& commit,
                                                        TimestampMs since) override;
  // Hidden from later commands, in addition to what is always hidden.
  void hide(std::vector<std::string> secret_files) { secret_files_ = std::move(secret_files); }

 private:
  // Empty if it may run.
  std::string refusal(const std::string& command, const workflow::Origin& origin) const;
  const sandbox::Sandbox& users_sandbox();

  Seams seams_;
  HomeDirectories homes_;
  const inbox::Operators& operators_;
  CommandLimits limits_;
  std::optional<sandbox::Sandbox> sandbox_;
  std::vector<std::string> secret_files_;
};

}  // namespace sb::engine
