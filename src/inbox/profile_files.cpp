#include "inbox/profile_files.hpp"

namespace sb::inbox {

Checked<decision::Profiles> load_profiles(const Files& files, const Environment& environment) {
  const auto places = homes(environment);
  if (!places) return decision::Profiles::built_in();
  const std::string folder = join_path(places->config, "profiles");
  const auto names = files.list(folder);
  if (!names) return decision::Profiles::built_in();
  std::vector<Document> documents;
  for (const std::string& name : *names) {
    if (!name.ends_with(".yaml") && !name.ends_with(".yml") && !name.ends_with(".json")) continue;
    auto document = load_document(files, join_path(folder, name));
    if (!document) return std::unexpected(Faults{std::move(document).error()});
    documents.push_back(std::move(*document));
  }
  return decision::Profiles::with(documents);
}

}  // namespace sb::inbox
