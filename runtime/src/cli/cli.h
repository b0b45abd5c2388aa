/*===- cli.h - The steps of a program's run ------------------------------===*/
#ifndef KILN_CLI_CLI_H
#define KILN_CLI_CLI_H

#include "args.h"
#include "kiln/cli.h"

/* Steps return KILN_OK, or a status with one line in `cause`. */

/* Reads the files of `args`, checks them against the model and fills missing inputs at random if `args` wants it.
 * `tensors` is zeroed and has room for the model's inputs; release their data by kiln_cli_release, on failure too.
 * `sizes` has room for the model's symbols and gets the size of each. *wrong_use tells that the command line is at
 * fault. */
kiln_status kiln_cli_inputs(const kiln_model *model, const kiln_args *args, kiln_tensor *tensors, int64_t *sizes,
                            bool *wrong_use, kiln_text *cause);

void kiln_cli_release(kiln_tensor *input);

/* Whether an input takes a file as it is: a uint8 tensor of one axis, as an encoded picture is, and a file that is not
 * .npy. */
bool kiln_takes_bytes(const kiln_port *port, const char *path);
/* The bytes of a file, for free(). On failure tensor->data is NULL, and `cause` has a line without the path. */
kiln_status kiln_read_bytes(const char *path, kiln_tensor *tensor, kiln_text *cause);

/* output_0.npy, output_1.npy … in args->output_dir, which is made if it is missing; a sequence becomes a folder of
 * files. With args->output_names also a file, or folder, named after each output. */
kiln_status kiln_cli_write(const kiln_model *model, const kiln_args *args, const kiln_tensor *outputs,
                           kiln_text *cause);

/* Times args->bench runs at `sizes` of the symbols and prints their median and minimum. On a terminal it shows its
 * progress, unless args->quiet. */
kiln_status kiln_cli_bench(kiln_context *context, const kiln_model *model, const kiln_args *args,
                           const kiln_tensor *inputs, const int64_t *sizes, kiln_text *cause);

/* Names of files and from a model may hold line ends and a terminal's commands. This writes a space and a '?' in their
 * places. */
void kiln_cli_put(FILE *file, const char *text);
/* The same in place. */
void kiln_cli_plain(char *text);
/* The bytes of the character of UTF-8 that begins here; 0 if none does. */
int kiln_cli_utf8(const char *text);

/* Whether the model's weights are in a file of their own, not in the program. */
static inline bool kiln_reads_weights(const kiln_model *model) {
  return model->weight_count > 0 && !model->weight_data;
}

/* " at n = 2, h = 8", nothing where all sizes are fixed. */
void kiln_cli_print_sizes(const kiln_model *model, const int64_t *sizes);
void kiln_cli_list(const kiln_model *model);
void kiln_cli_list_json(const kiln_model *model);
/* The last part of a program's path. */
const char *kiln_cli_base_name(const char *path);
/* Somebody who reads along, on a terminal or with DEBUG, learns of variables of tinygrad's that have no effect; a
 * service whose environment has such words does not. */
void kiln_cli_name_variables(const char *program);
/* Which model this is, and what made it for which devices, CPUs and system. */
void kiln_cli_version(const kiln_model *model, bool as_json);
void kiln_cli_help(const kiln_model *model, const char *program);

#endif
