#include "cli/definition.hpp"

#include "base/limits.hpp"
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
  const auto profiles = inbox::load_profiles(context.seams.files, context.seams.environment);
  if (!profiles) return std::unexpected(profiles.error());
  return decision::parse_declaration(*document, *profiles, author);
}

}  // namespace sb::cli
