/*===- main.c - A compiled model as a program ----------------------------===*/
#include "kiln/cli.h"

int main(int argc, char **argv) { return kiln_cli_main(&kiln_the_model, argc, argv); }
