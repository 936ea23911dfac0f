#include "cli/decision/declaration_file.hpp"

#include "base/files.hpp"
#include "base/limits.hpp"
#include "inbox/operators/trust.hpp"
#include "inbox/profile_files.hpp"

namespace sb::cli {
namespace {

Result<Document> read_definition(Context& context, const std::string& path) {
  if (path != "-") return load_document(context.seams.files, path);
  auto text = SB_TRY(context.streams().read_input(limits::kDocumentBytes));
  return parse_document("<stdin>", std::move(text));
}

}  // namespace

Checked<decision::Declaration> load_declaration(Context& context, const std::string& path, decision::Author author) {
  auto document = read_definition(context, path);
  if (!document) return std::unexpected(Faults{std::move(document).error()});
  // The user's profiles are read only if the declaration names one, so that a fault in them does not affect others.
  const decision::Profiles built_in = decision::Profiles::built_in();
  const auto name = document->root.string_at("profile");
  if (!name || built_in.find(*name)) return decision::parse_declaration(*document, built_in, author);
  const auto profiles = inbox::load_profiles(context.seams.files, context.seams.environment);
  if (!profiles) return std::unexpected(profiles.error());
  return decision::parse_declaration(*document, *profiles, author);
}

decision::Author author_of(const Context& context, const inbox::Home& home, const std::string& file) {
  if (file == "-") return decision::Author::kModel;
  const auto path = context.seams.files.canonical(file);
  if (!path) return decision::Author::kModel;
  const inbox::TrustedFolders folders(context.seams.files, home.homes(), home.operators());
  return folders.may_claim_safety(*path).value_or(false) ? decision::Author::kOperator : decision::Author::kModel;
}

}  // namespace sb::cli
