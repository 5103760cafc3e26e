#include "app/cli/cli.h"

int main(int argc, char** argv) { return stickslip::run_cli(argc, argv); }
