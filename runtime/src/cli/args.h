/*===- args.h - The command line as data ---------------------------------===*/
#ifndef KILN_CLI_ARGS_H
#define KILN_CLI_ARGS_H

#include "../text.h"

#include <stdbool.h>

enum { KILN_MOST_KERNEL_NAMES = 16 };

typedef struct kiln_args {
  const char **files;                          /* an input's file, or NULL; as many as the model has inputs */
  int64_t *sizes;                              /* a symbol's size by --at, or -1; as many as the model has symbols */
  const char *output_dir, *weights, *trace;    /* --profile=TRACE, or NULL */
  const char *kernels[KILN_MOST_KERNEL_NAMES]; /* --kernel */
  int32_t kernel_count, threads, bench;
  uint64_t seed;
  bool random, list, help, profile, quiet, json, no_print, output_names, profile_kernels, version;
} kiln_args;

/* Fills `args`, whose `files` and `sizes` have room for the model's inputs and symbols. On wrong use returns
 * KILN_INVALID_ARGUMENT with a cause and a remedy in one line. Strings are argv's. */
kiln_status kiln_args_parse(const kiln_model *model, int argc, char **argv, kiln_args *args, kiln_text *cause);

/* Whether --kernel lets a kernel of this name be shown. */
bool kiln_args_show(const kiln_args *args, const char *kernel);

#endif
