/*===- cli.h - The steps of a program's run ------------------------------===*/
#ifndef KILN_CLI_CLI_H
#define KILN_CLI_CLI_H

#include "args.h"
#include "kiln/cli.h"

/* Steps return KILN_OK, or a status with one line in `cause`. */

/* Reads the files of `args`, checks them against the model and fills what is left at random where `args` wants it.
 * `tensors` is zeroed and has room for the model's inputs; their data are for kiln_cli_release, on failure too.
 * *wrong_use tells that the command line is at fault. */
kiln_status kiln_cli_inputs(const kiln_model *model, const kiln_args *args, kiln_tensor *tensors, bool *wrong_use,
                            kiln_text *cause);

void kiln_cli_release(kiln_tensor *input);

/* output_0.npy, output_1.npy … in `folder`, which is made if it is not there; of a sequence a folder of files. */
kiln_status kiln_cli_write(const kiln_model *model, const char *folder, const kiln_tensor *outputs, kiln_text *cause);

/* Times `runs` runs and prints their median and minimum. On a terminal it says how far it is, unless `quiet`. */
kiln_status kiln_cli_bench(kiln_context *context, const kiln_model *model, const kiln_tensor *inputs, int32_t runs,
                           bool quiet, kiln_text *cause);

/* Names of files and from a model may hold line ends and a terminal's commands; what is written has neither: a space
 * and a '?' in their places. */
void kiln_cli_put(FILE *file, const char *text);

/* Whether the model's weights are in a file of their own, not in the program. */
static inline bool kiln_reads_weights(const kiln_model *model) {
  return model->weight_count > 0 && !model->weight_data;
}

void kiln_cli_list(const kiln_model *model);
void kiln_cli_help(const kiln_model *model, const char *program);

#endif
