// The output for each host, byte for byte, in English and Russian: tests/golden/HOST.LOCALE.(txt|json). SB_GOLDEN=write
// rewrites the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.hpp"
#include "decision/lint/lint.hpp"
#include "decision/render/render.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

constexpr const char* kEnglish = R"(
decision: storage
locale: en
instruction: Where should uploads be kept?
options:
  - {id: disk, label: On the disk}
  - {id: bucket, label: In a bucket, recommended: true, description: Costs by the month.}
  - {id: database, label: In the database}
  - {id: nowhere, label: Nowhere, description: Uploads are refused.}
  - {id: both, label: "Disk, then bucket"}
)";
constexpr const char* kRussian = R"(
decision: storage
locale: ru
instruction: Где хранить загрузки?
options:
  - {id: disk, label: На диске}
  - {id: bucket, label: В бакете, recommended: true, description: Плата помесячно.}
  - {id: database, label: В базе данных}
  - {id: nowhere, label: Нигде, description: Загрузки отклоняются.}
  - {id: both, label: "Диск, потом бакет"}
)";
constexpr const char* kEnglishBrief = R"(
decision: rollout
locale: en
profile: gstack
label: D4
question_id: ship-rollout
title: How fast to roll out
instruction: How fast should the new cache be rolled out?
door: one-way
irreversible_note: Old entries are deleted once a server has switched.
sections:
  context: main, release 3
  eli10: The cache keeps copies of pages, and we are about to change where it keeps them.
  stakes: Pages are slow for everyone for an hour.
  recommendation: {choice: canary, reason: one server shows every fault we know of}
  net: Canary costs a day and saves the evening.
options:
  - id: canary
    label: One server first
    recommended: true
    completeness: 9
    pros: [A fault hits one server and nobody else notices, The numbers of a whole day are there before we go on]
    cons: [Two versions of the cache run side by side for a day]
  - id: all
    label: All at once
    completeness: 6
    pros: [Everything is done today and nothing is left over, No server is different from the others at any time]
    cons: [A fault hits every visitor before anyone can stop it]
)";
constexpr const char* kRussianBrief = R"(
decision: rollout
locale: ru
profile: gstack
label: D4
question_id: ship-rollout
title: Как быстро выкатывать
instruction: Как быстро выкатывать новый кэш?
door: one-way
irreversible_note: Старые записи удаляются, как только сервер переключён.
sections:
  context: main, выпуск 3
  eli10: Кэш хранит копии страниц, и мы меняем место, где он их хранит.
  stakes: Час медленных страниц у всех.
  recommendation: {choice: canary, reason: один сервер покажет все известные сбои}
  net: Один сервер стоит дня и бережёт вечер.
options:
  - id: canary
    label: Сначала один сервер
    recommended: true
    completeness: 9
    pros: [Сбой заденет один сервер и останется незаметным, До следующего шага будут цифры за целый рабочий день]
    cons: [Целый день рядом работают две разные версии кэша]
  - id: all
    label: Все сразу
    completeness: 6
    pros: [Всё будет готово сегодня и ничего не останется на потом, Ни один сервер ни на минуту не отличается от других]
    cons: ["Сбой заденет каждого посетителя раньше, чем его остановят"]
)";

// Every page, or why there is none.
std::vector<Value> pages_of(const std::string& yaml, const Host& host) {
  const Declaration declaration = declared(yaml);
  std::vector<Value> pages;
  for (const Prompt& prompt :
       prompts_of(*declaration.decision(), declaration.profile, declaration.hash, cap_of(host, declaration.profile))) {
    const auto rendered = render(prompt, declaration.profile, host, {.nonce = "0123456789abcdef"});
    if (!rendered) {
      pages.emplace_back(rendered.error().to_string());
    } else {
      pages.push_back(rendered->payload.is_null() ? Value(rendered->text) : rendered->payload);
    }
  }
  return pages;
}

struct GoldenFile {
  std::string extension;
  std::string content;
};

GoldenFile golden_file(const Host& host, bool is_english) {
  std::vector<Value> pages = pages_of(is_english ? kEnglish : kRussian, host);
  for (Value& page : pages_of(is_english ? kEnglishBrief : kRussianBrief, host)) pages.push_back(std::move(page));
  const bool is_json = !std::ranges::all_of(pages, &Value::is_string);
  if (is_json) return {".json", to_pretty_json(Value(pages)) + "\n"};
  std::string text;
  for (const Value& page : pages) text += (text.empty() ? "" : "\n") + page.as_string() + "\n";
  return {".txt", text};
}

std::string without_line(std::string yaml, const std::string& line) {
  return yaml.erase(yaml.find(line), line.size());
}

TEST(Golden, EachHostInEnglishAndRussian) {
  SystemFiles files;
  const char* mode = std::getenv("SB_GOLDEN");
  const bool writes = mode && std::string_view(mode) == "write";
  for (const Host* host : hosts::kAll) {
    for (const bool is_english : {true, false}) {
      const auto [extension, actual] = golden_file(*host, is_english);
      const std::string path = std::string(SB_SOURCE_DIR) + "/tests/golden/" + std::string(host->name) +
                               (is_english ? ".en" : ".ru") + extension;
      if (writes) {
        ASSERT_TRUE(files.write_atomic(path, actual));
        continue;
      }
      const auto expected = files.read(path, 1u << 20);
      ASSERT_TRUE(expected) << path;
      EXPECT_EQ(actual, *expected) << path;
    }
  }
}

// Our output passes our own lint.
TEST(Golden, ABriefPassesOurOwnLint) {
  LintContext context;
  context.profile = "gstack";
  for (const char* yaml : {kEnglishBrief, kRussianBrief}) {
    for (const std::string& unlabelled : {std::string(yaml), without_line(yaml, "label: D4\n")}) {
      const std::string brief = pages_of(unlabelled, hosts::kBrief).at(0).as_string();
      for (const Finding& finding : lint(brief, context)) ADD_FAILURE() << finding.rule << "\n" << brief;
    }
  }
}

}  // namespace
}  // namespace sb::decision
