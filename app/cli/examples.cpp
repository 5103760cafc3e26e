#include "app/cli/examples.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stickslip {
namespace {

struct CommandExamples {
  const char* command;
  std::vector<const char*> lines;
};

/// They run in this order in one folder: those below read files that those above write.
const std::vector<CommandExamples>& all_examples() {
  static const std::vector<CommandExamples> all{
      {"view",
       {"stickslip view slope-sweep", "stickslip view twist --paused --quality high",
        "stickslip view stack --set young=5e4 --set mu=0.1"}},
      {"run",
       {"stickslip run slope --frames 5 --state slope.msh",
        "stickslip run card-house --variant slippery --frames 10 --report cards.jsonl",
        "stickslip run box-stack --solver nsgs --set mu=0.3 --frames 20 --freeze 10:stack.hdf5 --journal "
        "stack.jsonl",
        "stickslip run bounce --frames 10 --size 640x360 --video bounce.mp4",
        "stickslip run pyramid --frames 10 --motion pyramid.glb --checkpoint pyramid.hdf5",
        "stickslip run bounce --frames 10 --bundle bounce.stickslip",
        "stickslip run pyramid.hdf5 --frames 5"}},
      {"convert",
       {"stickslip convert slope.msh slope.obj", "stickslip convert slope.obj filled.msh --mesher lattice",
        "stickslip convert slope.msh old.msh --msh-version 2.2 --binary"}},
      {"list", {"stickslip list scenes", "stickslip list params --json", "stickslip list contact-solvers"}},
      {"solve",
       {"stickslip solve stack.hdf5 --tolerance 1e-8",
        "stickslip solve stack.hdf5 --solver newton_ac --set max_iterations=500 --history newton.csv",
        "stickslip solve --generate random_stacks --size 20 --out stacks.hdf5"}},
      {"race",
       {"stickslip race stack.hdf5 --time-budget 0.3",
        "stickslip race stacks.hdf5 --solvers nsgs,admm,newton_ac --csv race.csv",
        "stickslip race stack.hdf5 --solvers newton_ac --sweep prox_gs.r_scale=0.1:10:3 --time-budget 0.3",
        "stickslip race box-stack --steppers nsgs,admm,manifold_gs --frame 10 --steps 3"}},
      {"soak",
       {"stickslip soak box-stack --steps 20 --seed 1", "stickslip soak slope-sweep --minutes 0.05 --quiet"}},
      {"replay",
       {"stickslip replay stack.jsonl --verify", "stickslip replay bounce.stickslip --verify",
        "stickslip replay stack.jsonl --verify --quiet --threads 1    # the same bits on any number of "
        "threads"}},
      {"bundle",
       {"stickslip bundle bounce.stickslip", "stickslip bundle bounce.stickslip --extract bounce-files"}},
      {"reproduce",
       {"stickslip reproduce --list", "stickslip reproduce daviet2020-fig5-two-contacts --quick",
        "stickslip reproduce tasora2013-fig5-b3 --quick --out claims"}},
      {"bench",
       {"stickslip bench step --scenes bounce --frames 5",
        "stickslip bench step --scenes bounce,box-stack --frames 3 --json steps.json"}},
      {"completion",
       {"stickslip completion bash > stickslip.bash    # then: source stickslip.bash",
        "stickslip completion zsh > _stickslip          # in a folder of $fpath",
        "stickslip completion fish > stickslip.fish     # in ~/.config/fish/completions"}},
  };
  return all;
}

}  // namespace

void add_examples(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (const auto& [name, lines] : all_examples()) {
      if (command->get_name() != name) continue;
      std::string footer = command->get_footer();
      footer += footer.empty() ? "Examples:" : "\n\nExamples:";
      for (const char* line : lines) footer.append("\n  ").append(line);
      command->footer(footer);
    }
}

}  // namespace stickslip
