#include "app/cli/bundle.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/io/bundle/bundle.h"

namespace stickslip {
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// Without bytes that disturb a terminal.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = c == '\n' ? c : '?';
  return text;
}

void print_origin(const BundleOrigin& origin) {
  std::cout << printable(origin.program) << "\nbackend: " << printable(origin.backend) << " on "
            << printable(origin.device) << "\n";
  if (!origin.renderer.empty()) std::cout << "window: " << printable(origin.renderer) << "\n";
}

void print_bundle(const Bundle& bundle) {
  print_origin(bundle.origin);
  const std::string& journal = *bundle.find(bundle_journal_name);
  std::cout << "journal: " << count_of(journal, "\n") << " events, of which "
            << count_of(journal, R"("event":"step")") << " are steps\n";
  for (const BundledLoad& load : bundle.loads) {
    const BundledScene& scene = bundle.scenes[load.scene];
    std::cout << "scene: " << printable(scene.loaded());
    if (!load.variant.empty()) std::cout << ", variant " << printable(load.variant);
    std::cout << ", opened from " << printable(scene.opened_from) << "\n";
  }
  std::cout << "files:\n";
  for (const TarMember& member : bundle.members)
    std::cout << "  " << printable(member.name) << ", " << member.bytes.size() << " bytes\n";
}

}  // namespace

CLI::App* add_bundle(CLI::App& app, BundleCommand& options) {
  CLI::App* bundle = app.add_subcommand("bundle", "show what is in a bundle of a session, or unpack it");
  bundle->add_option("bundle", options.file, "file of run --bundle or of the window (.stickslip)")
      ->required();
  bundle->add_option("--extract", options.extract,
                     "write its files to this folder, which must be new or empty");
  return bundle;
}

int command_bundle(const BundleCommand& options) {
  const Bundle bundle = read_bundle(options.file);
  print_bundle(bundle);
  if (options.extract.empty()) return exit_good;
  extract_bundle(bundle, options.extract);
  std::cout << "written to " << options.extract << "\n";
  return exit_good;
}

}  // namespace stickslip
