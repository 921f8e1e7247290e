// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Figures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

using namespace winnow::bench;

std::optional<double> Figure::ratio() const {
  if (!anchor || *anchor == 0)
    return std::nullopt;
  return ours / *anchor;
}

std::optional<bool> Figure::met() const {
  if (!goal)
    return std::nullopt;
  if (isWrong)
    return false;
  return goalIsLeast ? ours >= *goal : ours <= *goal;
}

namespace {

std::string number(std::optional<double> value, int decimals) {
  if (!value)
    return "";
  std::string text = fmt::format("{:.{}f}", *value, decimals);
  if (text.find('.') != text.npos) { // 110.0 is 110
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
  }
  return text;
}

std::string goalText(const Figure &figure) {
  if (!figure.goal)
    return "";
  return (figure.goalIsLeast ? ">= " : "<= ") +
         number(figure.goal, figure.decimals);
}

} // namespace

std::string winnow::bench::figuresText(const std::vector<Figure> &figures) {
  size_t width = 0;
  for (const Figure &figure : figures)
    width = std::max(width, figure.name.size());
  // Groups in the order in which they first come.
  std::vector<std::string> groups;
  for (const Figure &figure : figures)
    if (std::find(groups.begin(), groups.end(), figure.group) == groups.end())
      groups.push_back(figure.group);
  std::vector<Figure> sorted;
  for (const std::string &group : groups)
    std::copy_if(figures.begin(), figures.end(), std::back_inserter(sorted),
                 [&](const Figure &figure) { return figure.group == group; });
  std::string text, group;
  for (const Figure &figure : sorted) {
    if (figure.group != group) {
      group = figure.group;
      text += fmt::format("\n{}\n  {:<{}}  {:>10}  {:>10}  {:>6}  {:>10}\n",
                          group, "", width, "anchor", "ours", "ratio", "goal");
    }
    std::string line =
        fmt::format("  {:<{}}  {:>10}  {:>10}  {:>6}  {:>10}  {}", figure.name,
                    width, number(figure.anchor, figure.decimals),
                    number(figure.ours, figure.decimals),
                    number(figure.ratio(), 2), goalText(figure),
                    !figure.met()   ? ""
                    : *figure.met() ? "met"
                                    : "NOT MET");
    if (figure.low && figure.high)
      line +=
          fmt::format("  p10 {} p90 {}", number(figure.low, figure.decimals),
                      number(figure.high, figure.decimals));
    if (figure.isWrong)
      line += "  WRONG RESULT";
    if (!figure.note.empty())
      line += "  " + figure.note;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string winnow::bench::figuresJson(const std::vector<Figure> &figures,
                                       const std::string &about) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  auto put = [](Json &object, const char *name, std::optional<double> value) {
    if (value)
      object[name] = *value;
  };
  for (const Figure &figure : figures) {
    Json object{{"group", figure.group}, {"name", figure.name}};
    put(object, "anchor", figure.anchor);
    put(object, "ours", figure.ours);
    put(object, "ratio", figure.ratio());
    put(object, "p10", figure.low);
    put(object, "p90", figure.high);
    put(object, figure.goalIsLeast ? "at_least" : "at_most", figure.goal);
    if (figure.met())
      object["met"] = *figure.met();
    if (figure.isWrong)
      object["wrong"] = true;
    if (!figure.note.empty())
      object["note"] = figure.note;
    list.push_back(std::move(object));
  }
  Json all{{"about", Json::parse(about)}, {"figures", std::move(list)}};
  return all.dump(2) + "\n";
}
