/*===- variables.c - Variables of tinygrad's without an effect ------------===
 *
 * People who come from tinygrad steer it by the environment, and would otherwise believe that BEAM=2 or JIT=0 did
 * something. Some of the names are words that other programs have uses for, so these count only with tinygrad's values.
 *
 *===---------------------------------------------------------------------===*/
#include "kiln/cli.h"

#include <stdlib.h>
#include <string.h>

static const char chosen[] = "its kernels were chosen when kiln compiled it",
                  of_device[] = "choose a device with kiln compile --device",
                  drawn[] = "give kiln compile --graph FILE.svg";

const kiln_ignored_variable kiln_ignored_variables[] = {
    {"BEAM", NULL, "kernels' loops are chosen without a search, and changed by --opts", chosen},
    {"NOLOCALS", NULL, "kernels' loops are changed by --opts", chosen},
    {"TC", NULL, "matrix instructions are used where the device has them, with --precision bf16 on a CPU", chosen},
    {"WINO", NULL, "it is used where it is faster; --winograd chooses", chosen},
    {"OPT", "0123", "--no-opt turns opts off; -O is the code generator's", chosen},
    {"IMAGE", "12", "no device of kiln has images for memory", "no device of kiln has images for memory"},
    {"JIT", "012", "everything is compiled before it runs", "everything is compiled before it runs"},
    {"GRAPH", NULL, "give --graph FILE.svg", drawn},
    {"VIZ", NULL, "give --graph FILE.svg", drawn},
    {"PROFILE", NULL, "give --profile", "give --profile"},
    {"CLANG", "1", "give --device c", of_device},
    {"LLVM", "1", "it is device cpu, the default", of_device},
    {"GPU", "1", "give --device opencl", of_device},
    {"CUDA", "1", "give --device cuda", of_device},
    {"NV", "1", "give --device cuda", of_device},
    {"METAL", "1", "`kiln devices` lists the devices", of_device},
    {"AMD", "1", "`kiln devices` lists the devices", of_device},
    {NULL, NULL, NULL, NULL},
};

const char *kiln_ignored_value(const kiln_ignored_variable *variable) {
  const char *value = getenv(variable->name);
  if (!value || !value[0])
    return NULL;
  if (!variable->values)
    return strcmp(value, "0") != 0 ? value : NULL;
  return !value[1] && strchr(variable->values, value[0]) ? value : NULL;
}
