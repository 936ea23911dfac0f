// Folders the user trusts: their policy files count, and their commands may run.
//
// Trust is bound to content, by one hash over names and bytes: DIR/signalbox.yaml, everything under DIR/.signalbox
// (except Markdown directly in it: pitches and designs, which are work and not policy) and DIR/.workrail/workflows,
// DIR/.workrail/bindings.json, and the .json, .yaml and .yml files under DIR/workflows (not in folders that begin with
// a dot, nor in node_modules). A changed, added or removed file revokes the trust until the user trusts the folder
// again.
//
// Of the configuration home these files are covered instead: its .yaml and .yml files except config.yaml, and the
// .json, .yaml and .yml files below `decisions`, `profiles` and `workflows`. The rest is what Signalbox itself writes.
//
// `trust.jsonl` in the data home, one line per act, canonical JSON: {"at", "directory", "hash", "v": 1} and, if
// operators exist, "by": KEY and "sig" over "sb-trust-1\n" and the line without `sig`. The last line about a folder
// counts. If operators exist, a line that none of them signed is ignored, so that an agent cannot trust a folder by
// itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "inbox/operators/operators.hpp"

namespace sb::inbox {

// The files covered by trusting the folder.
struct PolicyFiles {
  std::vector<std::string> names;  // relative, sorted
  std::string hash;                // hex; SHA-256 over each name and content with their lengths
};

// Of a project's folder. kLimit for more than 1,000 files or 16 MiB. Links out of the folder are kForbidden.
Result<PolicyFiles> policy_files(const Files& files, const std::string& directory);

class TrustedFolders {
 public:
  TrustedFolders(Files& files, const HomeDirectories& homes, const Operators& operators);

  // Of a project's folder or of the configuration home; `directory` is absolute and free of links, as below.
  Result<PolicyFiles> policy_of(const std::string& directory) const;
  // True when the last act about it covers exactly this content.
  Result<bool> is_trusted(std::string_view directory, std::string_view hash) const;
  // Whether what this file (absolute, free of links) says about danger counts: it is in a trusted folder, or in the
  // configuration home while there are no operators, who would have to sign for that. Once there are, a file that an
  // agent may have copied there is not enough.
  Result<bool> may_claim_safety(const std::string& file) const;
  // The trusted folder whose policy files include this file (absolute, free of links); nothing when there is none.
  Result<std::optional<std::string>> trusted_home_of(const std::string& file) const;
  // `by_secret`: an operator's secret key; required if there are operators (kForbidden without).
  Status trust(std::string_view directory, std::string_view hash, TimestampMs at,
               const std::optional<std::string>& by_secret);

 private:
  bool counts(const Value& act) const;

  Files& files_;
  std::string path_;
  std::string config_;  // free of links; empty if there is none
  const Operators& operators_;
};

// Whether a file (absolute, free of links) is one of the policy files of a folder that is trusted as it is now. What
// cannot be read is not trusted. `files` must outlive the result.
std::function<bool(const std::string& file)> file_trust(Files& files, const HomeDirectories& homes);

}  // namespace sb::inbox
