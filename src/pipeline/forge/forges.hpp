// The forges, one row each. To add one, write its class in a file next to github_forge.cpp and add a row to forges.cpp.
//
// Everything that depends on the forge and is needed before one is opened comes from its row: its settings, whether
// merging needs a person's approval, how tickets are named.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sb {
struct Seams;
namespace net {
class HttpClient;
}
}  // namespace sb

namespace sb::pipeline {

class Forge;
struct ForgeSettings;

struct ForgeParts {
  const Seams& seams;
  net::HttpClient& http;
  const ForgeSettings& settings;
  std::string repository;  // the working copy
};

struct ForgeKind {
  std::string_view name;   // `forge: {kind: NAME}`; the ids of its tickets begin with NAME:
  bool is_hosted = false;  // needs a repository and a token; merging needs approval by default

  // Only for hosted forges.
  std::string_view repository_form = {};  // how `repository` is written, for people
  bool (*is_repository)(std::string_view name) = nullptr;
  // Whether this names a ticket without being a URL: `#12`. A file of that name takes precedence.
  bool (*is_ticket_name)(std::string_view name) = nullptr;
  // In a work tree: where the checks are defined that the forge runs itself. They may start some time after a push.
  std::string_view checks_folder = {};

  Result<std::unique_ptr<Forge>> (*make)(const ForgeParts& parts) = nullptr;
};

std::span<const ForgeKind> forge_kinds();  // the first is the default
// Null if none has that name.
const ForgeKind* forge_kind_named(std::string_view name, std::span<const ForgeKind> kinds = forge_kinds());

// `owner/name#12` of the ticket id `github:owner/name#12`; empty for an id that is not of `own` or of a hosted forge.
std::string_view ticket_reference(std::string_view id, const ForgeKind& own);

// kInvalid if the settings are incomplete for it.
Result<std::unique_ptr<Forge>> make_forge(const ForgeParts& parts);

}  // namespace sb::pipeline
