// Linked into the program and its tests by address-sanitizer builds: libraries stay loaded until the process
// ends. Drivers and X extensions that are unloaded earlier leave memory that only their own globals knew of,
// in stacks without names: LeakSanitizer would report it, and tools/lsan.supp could not tell it from ours.
extern "C" int dlclose(void*) { return 0; }
