// Converts a folder of data files into a C++ file: embed NAME ROOT OUT FILE...
//
// YAML is for authors; the embedded form is the same tree as JSON, which is parsed many times faster at every start of
// the program.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/document/document.hpp"
#include "base/files.hpp"

namespace {

sb::Result<std::string> bytes_of(const sb::Files& files, const std::string& path) {
  std::string text = SB_TRY(files.read(path, 16u << 20));
  if (!path.ends_with(".yaml")) return text;
  const sb::Document document = SB_TRY(sb::parse_document(path, std::move(text)));
  return to_json(document.root);
}

std::string literal_of(std::string_view bytes) {
  constexpr std::size_t kLineBytes = 40;
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += kLineBytes) {
    out += "\n    \"";
    for (const char c : bytes.substr(at, kLineBytes)) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    out += '"';
  }
  return out.empty() ? "\"\"" : out;
}

sb::Status embed(const std::string& name, const std::string& root, const std::string& out, int count, char** paths) {
  sb::SystemFiles files;
  std::string constants, table, names;
  for (int i = 0; i < count; ++i) {
    const std::string path = paths[i];
    const std::string bytes = SB_TRY(bytes_of(files, path));
    constants += fmt::format("constexpr char kFile{}[] = {};\n", i, literal_of(bytes));
    table +=
        fmt::format("  if (name == \"{}\") return {{kFile{}, {}}};\n", path.substr(root.size() + 1), i, bytes.size());
    names += fmt::format("    \"{}\",\n", path.substr(root.size() + 1));
  }
  return files.write_atomic(
      out,
      fmt::format(
          "#include <string_view>\n#include <vector>\n\nnamespace sb::{0} {{\nnamespace {{\n{1}}}  // namespace\n\n"
          "std::string_view data_file(std::string_view name) {{\n{2}  return {{}};\n}}\n\n"
          "std::vector<std::string_view> data_names() {{\n  return {{\n{3}  }};\n}}\n"
          "}}  // namespace sb::{0}\n",
          name, constants, table, names));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const sb::Status done = embed(argv[1], argv[2], argv[3], argc - 4, argv + 4);
  if (!done) std::fprintf(stderr, "embed: %s\n", done.error().to_string().c_str());
  return done ? 0 : 1;
}
