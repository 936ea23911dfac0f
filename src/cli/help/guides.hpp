// The pages of docs/, which are built into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::cli {

struct Guide {
  std::string name;        // `delivery`
  std::string_view title;  // the page's heading
  std::string_view text;   // Markdown
};

std::vector<Guide> guides();  // by name

}  // namespace sb::cli
