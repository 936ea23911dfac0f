// `signalbox trust DIR`: trusts the policy files of a project, or of the configuration home, as they are now.
#include "inbox/operators/trust.hpp"

#include <fmt/format.h>

#include "base/text/printable.hpp"
#include "cli/person.hpp"
#include "inbox/operators/key_files.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::cli {
namespace {

Status trust(const Context& context, const std::string& directory) {
  Files& files = context.seams.files;
  if (files.kind(directory) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not a folder", quote_json(directory)));
  }
  const std::string path = SB_TRY(files.canonical(directory));
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  const inbox::Operators operators = SB_TRY(inbox::OperatorFiles(files, homes).load());
  inbox::TrustedFolders folders(files, homes, operators);
  const inbox::PolicyFiles policy = SB_TRY(folders.policy_of(path));
  if (policy.names.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no signalbox.yaml, .signalbox or workflows", path),
                "There is nothing to trust");
  }
  if (SB_TRY(folders.is_trusted(path, policy.hash))) {
    context.out(fmt::format("{} is already trusted\n", path));
    return {};
  }
  if (const Faults faults = pipeline::workspace_file_faults(context.seams, homes, path); !faults.empty()) {
    for (const Error& fault : faults) context.err(fmt::format("signalbox: {}\n", printable(fault.to_string())));
    return fail(ErrorCode::kInvalid, "a file with faults is not trusted", "Fix it, then run this command again");
  }
  for (const std::string& name : policy.names) context.err(fmt::format("  {}\n", name));
  std::optional<std::string> secret;
  if (operators.empty()) {
    SB_TRY(refuse_known_agents(context));
  } else {
    secret = SB_TRY(unlock_operator(context, homes, operators, ""));
  }
  SB_TRY(folders.trust(path, policy.hash, context.seams.clock.now_ms(), secret));
  context.out(fmt::format("{} is trusted as it is now; changing these files revokes the trust\n", path));
  return {};
}

}  // namespace

Action declare_trust(App& app) {
  auto directory = std::make_shared<std::string>();
  app.add_option("DIR", *directory, "The folder of a project, or your configuration home")->required();
  return [directory](Context& context) {
    const Status done = trust(context, *directory);
    return done ? kExitOk : report_answer(context, done.error());
  };
}

}  // namespace sb::cli
