#include "app/cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "app/io/claims/claims.h"
#include "app/io/report/step_race.h"
#include "app/io/scene/scene.h"
#include "app/io/scene/settings.h"
#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/generators.h"

namespace stickslip {
namespace {

using Words = std::vector<std::string>;

struct Argument {
  Words names;  // with their dashes; none of an argument by position
  std::string meaning;
  Words values;  // none: they cannot be listed
  bool takes_value = false, repeatable = false, may_be_file = false;
  bool keys = false;  // the values are keys, which "=" and a value follow
};

struct CommandWords {
  std::string name, meaning;
  std::vector<Argument> options, positions;
};

std::string joined(const Words& words, const std::string& separator = " ") {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

/// The set of a type such as "TEXT:{auto,off}".
Words choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

template <class Row>
Words names_of(const std::vector<Row>& rows) {
  Words names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

Words variant_names() {
  Words names;
  for (const SceneInfo& scene : list_scenes())
    for (const auto& [name, description] : scene.variants) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void append_keys(Words& keys, std::span<const ParamInfo> table, const std::string& prefix = "") {
  for (const ParamInfo& info : table) keys.push_back(prefix + std::string(info.name) + "=");
}

/// What --set takes: of a scene, or of a problem of the contact lab.
Words setting_keys(bool of_lab) {
  Words keys;
  if (!of_lab) {
    append_keys(keys, param_table());
    append_keys(keys, material_table());
  }
  append_keys(keys, lab_param_table(), of_lab ? "" : "contact.");
  return keys;
}

Words values_of(const CLI::Option& option, bool of_lab) {
  if (Words choices = choices_of(option); !choices.empty()) return choices;
  const std::string& name = option.get_single_name();
  if (name == "scene") return names_of(list_scenes());
  if (name == "variant") return variant_names();
  if (name == "solver") return of_lab ? names_of(list_lab_solvers()) : solver_names();
  if (name == "solvers") return names_of(list_lab_solvers());
  if (name == "steppers") {
    Words names = all_steppers();
    names.emplace_back("all");
    return names;
  }
  if (name == "generate") return names_of(list_generators());
  if (name == "set") return setting_keys(of_lab);
  return {};
}

Argument argument_of(const CLI::Option& option, bool of_lab) {
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  argument.meaning = option.get_description();
  argument.values = values_of(option, of_lab);
  argument.takes_value = option.get_items_expected_max() > 0;
  argument.repeatable = option.get_items_expected_max() > 1;
  argument.may_be_file = option.get_type_name().starts_with("TEXT") && choices_of(option).empty() &&
                         (argument.values.empty() || option.get_positional());
  argument.keys = option.get_single_name() == "set";
  return argument;
}

std::vector<CommandWords> commands_of(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* declared : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords command{declared->get_name(), declared->get_description(), {}, {}};
    const bool of_lab = declared->get_option_no_throw("--generate") != nullptr;
    const bool of_claims = declared->get_name() == "reproduce";
    const bool of_scenes = declared->get_option_no_throw("--steppers") != nullptr;
    for (const CLI::Option* option : declared->get_options()) {
      Argument argument = argument_of(*option, of_lab);
      // A race is one on a problem or on a scene.
      if (of_lab && of_scenes && option->get_single_name() == "set")
        for (std::string& key : setting_keys(false)) argument.values.push_back(std::move(key));
      if (of_lab && of_scenes && option->get_single_name() == "problem")
        argument.values = names_of(list_scenes());
      if (of_claims && option->get_positional()) argument.values = claim_names(load_claims());
      (option->get_positional() ? command.positions : command.options).push_back(std::move(argument));
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

/// Options of the program itself.
Words global_options(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) names.push_back("--" + option->get_single_name());
  return names;
}

/// The first clause of a meaning, for a list beside the command line.
std::string brief(const std::string& meaning) { return meaning.substr(0, meaning.find_first_of(";\n")); }

std::string escaped(const std::string& text, const std::string& special, const std::string& before) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) result += before;
    result += c;
  }
  return result;
}

/// The parameters whose values can be listed: lines of a shell's `case`, by key.
std::string bash_value_cases() {
  std::string cases;
  const auto add = [&](std::span<const ParamInfo> table, const std::string& prefix) {
    for (const ParamInfo& info : table) {
      Words values(info.choices.begin(), info.choices.end());
      if (info.type == ParamType::boolean) values = {"true", "false"};
      if (info.name == "solver" && prefix.empty()) values = solver_names();
      if (!values.empty())
        cases += "    " + prefix + std::string(info.name) + ") words='" + joined(values) + "' ;;\n";
    }
  };
  add(param_table(), "");
  add(material_table(), "");
  add(lab_param_table(), "contact.");
  return cases;
}

std::string bash_script(const std::vector<CommandWords>& commands, const Words& globals) {
  Words names;
  std::string words, values;
  for (const CommandWords& command : commands) {
    names.push_back(command.name);
    Words positions, options;
    for (const Argument& position : command.positions)
      positions.insert(positions.end(), position.values.begin(), position.values.end());
    for (const Argument& option : command.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      Words patterns;
      for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
      values += "    " + joined(patterns, "|") + ") words='" + joined(option.values) + "' ;;\n";
    }
    words += "      " + command.name + ":-*) words='" + joined(options) + "' ;;\n";
    words += "      " + command.name + ":*) words='" + joined(positions) + "' ;;\n";
  }
  names.insert(names.end(), globals.begin(), globals.end());
  return "# Completion of stickslip for bash, made by: stickslip completion bash\n"
         "_stickslip_value() {\n"
         "  case $1 in\n" +
         bash_value_cases() +
         "  esac\n"
         "}\n"
         "_stickslip() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    words='" +
         joined(names) +
         "'\n"
         "  elif [ \"$current\" = = ]; then\n"
         "    current=\n"
         "    _stickslip_value \"$previous\"\n"
         "  elif [ \"$previous\" = = ]; then\n"
         "    _stickslip_value \"${COMP_WORDS[COMP_CWORD - 2]}\"\n"
         "  else\n"
         "    case ${COMP_WORDS[1]}:$previous in\n" +
         values +
         "    *)\n"
         "      case ${COMP_WORDS[1]}:$current in\n" +
         words +
         "      esac\n"
         "      ;;\n"
         "    esac\n"
         "  fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null\n"
         "}\n"
         "complete -o default -F _stickslip stickslip\n";
}

/// What _arguments does for a value.
std::string zsh_action(const Argument& argument) {
  const std::string words = joined(argument.values);
  if (words.empty()) return argument.may_be_file ? "_files" : " ";
  if (argument.keys) return "compadd -S \"\" - " + words;
  if (!argument.may_be_file) return "(" + words + ")";
  return "{_alternative \"words:word:(" + words + ")\" \"files:file:_files\"}";
}

std::string zsh_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string zsh_script(const std::vector<CommandWords>& commands, const Words& globals) {
  std::string described, cases;
  for (const CommandWords& command : commands) {
    described += "    " + zsh_quoted(command.name + ":" + brief(command.meaning)) + "\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const Argument& option : command.options)
      for (const std::string& name : option.names) {
        std::string spec =
            (option.repeatable ? "*" : "") + name + "[" + escaped(brief(option.meaning), "[]:\\", "\\") + "]";
        if (option.takes_value) spec += ":" + name.substr(name.rfind('-') + 1) + ":" + zsh_action(option);
        cases += " \\\n        " + zsh_quoted(spec);
      }
    for (const Argument& position : command.positions)
      cases += " \\\n        " +
               zsh_quoted(":" + escaped(brief(position.meaning), ":\\", "\\") + ":" + zsh_action(position));
    cases += "\n      ;;\n";
  }
  for (const std::string& option : globals) described += "    " + zsh_quoted(option) + "\n";
  return "#compdef stickslip\n"
         "# Completion of stickslip for zsh, made by: stickslip completion zsh\n"
         "_stickslip() {\n"
         "  local -a commands=(\n" +
         described +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _stickslip ]; then _stickslip \"$@\"; else compdef _stickslip stickslip; "
         "fi\n";
}

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "'\\", "\\") + "'"; }

std::string fish_script(const std::vector<CommandWords>& commands, const Words& globals) {
  std::string script =
      "# Completion of stickslip for fish, made by: stickslip completion fish\n"
      "complete -c stickslip -e\n";
  for (const std::string& option : globals)
    script += "complete -c stickslip -n __fish_use_subcommand -l " + option.substr(2) + "\n";
  for (const CommandWords& command : commands)
    script += "complete -c stickslip -f -n __fish_use_subcommand -a " + command.name + " -d " +
              fish_quoted(brief(command.meaning)) + "\n";
  for (const CommandWords& command : commands) {
    const std::string head = "complete -c stickslip -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const Argument& position : command.positions)
      if (!position.values.empty()) script += head + " -a " + fish_quoted(joined(position.values)) + "\n";
    for (const Argument& option : command.options)
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        script += head + (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
        if (option.takes_value) script += option.may_be_file ? " -r" : " -x";
        if (!option.values.empty()) script += " -a " + fish_quoted(joined(option.values));
        script += " -d " + fish_quoted(brief(option.meaning)) + "\n";
      }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::vector<CommandWords> commands = commands_of(app);
  const Words globals = global_options(app);
  if (shell == "zsh") return zsh_script(commands, globals);
  if (shell == "fish") return fish_script(commands, globals);
  return bash_script(commands, globals);
}

}  // namespace stickslip
