/*===- main.c - A compiled model as a program ----------------------------===*/
#include "cli.h"

int main(int argc, char **argv) {
  kiln_cli_name_variables(kiln_cli_base_name(argc > 0 ? argv[0] : NULL));
  return kiln_cli_main(&kiln_the_model, argc, argv);
}
