/*===- cli.h - The command line of a compiled model, and its parts -------===*/
#ifndef KILN_CLI_H
#define KILN_CLI_H

#include "kiln/program.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does what `PROGRAM --help` says. argv[0] names the program in errors. Returns the exit status: 0, 1 for a failure, 2
 * for wrong use. Results go to standard output, errors (one line) and the log of DEBUG to standard error. */
int kiln_cli_main(const kiln_model *model, int argc, char **argv);

/* The machine that the environment names for a model's device, for kiln_options.device: KILN_CUDA_DEVICE for cuda,
 * KILN_OPENCL_DEVICE for opencl and so on. NULL: none. */
const char *kiln_device_in_environment(const kiln_model *model);

/* "NAME: float32 [2, 3]", then the values as NumPy prints them, those of a large tensor summarised. "NAME: sequence of
 * 2", then its tensors as NAME[0] and NAME[1]. */
void kiln_print_tensor(FILE *file, const char *name, const kiln_tensor *tensor);

/* Fills tensor->data (the caller's) from `seed` and `stream`: floats in [mean - 1, mean + 1), integers from 0 to 9,
 * bools, and strings from "zero" to "nine". The same on every machine; tensors with different streams are independent.
 */
void kiln_random_fill(kiln_tensor *tensor, uint64_t seed, uint64_t stream, double mean);

/* Moves an aliased input, whose elements have no gaps in memory of malloc's, to such memory with the room that the
 * alias has. False: no memory. An alias without a capacity changes nothing. */
bool kiln_room_give(const kiln_alias *alias, kiln_tensor *tensor);
/* The other way round, for a tensor in anybody's memory: its data are a copy then, for free(). */
bool kiln_room_take(const kiln_alias *alias, kiln_tensor *tensor);

/* Whether somebody sees standard error, and it can move its cursor. */
bool kiln_has_terminal(void);
/* The same, and NO_COLOR in the environment does not forbid colours. */
bool kiln_has_colours(void);
/* A kernel's name in `painted`, as tinygrad colours it on a terminal: each number in the colour of what becomes of its
 * axis (kiln_kernel.axes). Without colours if `axes` is NULL or has another number of letters. */
void kiln_paint_kernel(const char *name, const char *axes, char *painted, size_t room);

/* A variable of tinygrad's that has no effect on kiln, and what has one instead. */
typedef struct kiln_ignored_variable {
  const char *name;
  const char *values;      /* the one-letter values that count as tinygrad's, NULL: any text but 0 */
  const char *of_compiler; /* the remedy for users of kiln */
  const char *of_program;  /* for users of a program that kiln made */
} kiln_ignored_variable;
/* All of them; the last has no name. */
extern const kiln_ignored_variable kiln_ignored_variables[];
/* The value that the environment has for it; NULL: none, or not one of tinygrad's. */
const char *kiln_ignored_value(const kiln_ignored_variable *variable);

/* The model of a program that is linked with kiln_main. */
extern const kiln_model kiln_the_model;

#ifdef __cplusplus
}
#endif
#endif
