#include "cli/help/guides.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace sb::cli {
namespace bundled {

std::string_view data_file(std::string_view name);
std::vector<std::string_view> data_names();

}  // namespace bundled

std::vector<Guide> guides() {
  std::vector<Guide> all;
  for (const std::string_view file : bundled::data_names()) {
    const std::string_view text = bundled::data_file(file);
    std::string_view title = first_line(text);
    title.remove_prefix(std::min(title.find_first_not_of("# "), title.size()));
    all.push_back({std::string(file.substr(0, file.rfind('.'))), title, text});
  }
  std::ranges::sort(all, {}, &Guide::name);
  return all;
}

}  // namespace sb::cli
