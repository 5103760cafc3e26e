// docs/extending.md shows the text that the tests of this folder compile: a block of code behind
// `<!-- FILE [part] -->` is what stands in tests/extending/FILE between [part] and [/part].
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace stickslip {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(STICKSLIP_SOURCE) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

/// The lines without backslashes that join them, and without the indentation that all have.
std::string plain(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  std::size_t indent = 1000;
  for (std::string line; std::getline(in, line); lines.push_back(line)) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\\')) line.pop_back();
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  }
  std::string result;
  for (const std::string& line : lines) result += (line.empty() ? "" : line.substr(indent)) + "\n";
  return result;
}

/// Between the lines that have [part] and [/part].
std::string part_of(const std::string& file, const std::string& part) {
  const std::string text = text_of("tests/extending/" + file);
  const std::size_t open = text.find("[" + part + "]"), close = text.find("[/" + part + "]");
  if (open == std::string::npos || close == std::string::npos) return "no part " + part;
  const std::size_t begin = text.find('\n', open) + 1, end = text.rfind('\n', close) + 1;
  return plain(text.substr(begin, end - begin));
}

TEST(Extending, ThePageShowsWhatIsCompiled) {
  const std::string page = text_of("docs/extending.md");
  const std::regex block("<!-- (\\S+) \\[(\\w+)\\] -->\n```cpp\n([^`]*)```");
  int blocks = 0, fences = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), block), end; at != end; ++at, ++blocks)
    EXPECT_EQ((*at)[3].str(), part_of((*at)[1], (*at)[2])) << (*at)[1] << " " << (*at)[2];
  for (std::size_t at = page.find("```cpp"); at != std::string::npos; at = page.find("```cpp", at + 1))
    ++fences;
  EXPECT_GT(blocks, 0);
  EXPECT_EQ(blocks, fences) << "a block of code without its source";
}

}  // namespace
}  // namespace stickslip
