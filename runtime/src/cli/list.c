/*===- list.c - What a program takes and gives ---------------------------===*/
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

static void list_ports(const char *kind, const kiln_port *ports, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    char line[KILN_TEXT_BYTES];
    kiln_text text = kiln_text_in(line, sizeof line);
    kiln_text_add_port(&text, &ports[i]);
    printf("%s ", kind);
    kiln_cli_put(stdout, ports[i].name);
    printf(": ");
    kiln_cli_put(stdout, line);
    printf("%s\n", ports[i].value ? ", has a default" : "");
  }
}

void kiln_cli_list(const kiln_model *model) {
  list_ports("input", model->inputs, model->input_count);
  list_ports("output", model->outputs, model->output_count);
  for (int32_t i = 0; i < model->alias_count; i++) {
    const kiln_alias *alias = &model->aliases[i];
    printf("alias ");
    kiln_cli_put(stdout, model->outputs[alias->output].name);
    printf(": lies in the memory of ");
    kiln_cli_put(stdout, model->inputs[alias->input].name);
    if (alias->axis >= 0)
      printf(", with room for %" PRId64 " along axis %" PRId32, alias->capacity, alias->axis);
    printf("\n");
  }
  for (int32_t i = 0; i < model->symbol_count; i++) {
    const kiln_symbol *symbol = &model->symbols[i];
    printf("symbol ");
    kiln_cli_put(stdout, symbol->name);
    printf(": %" PRId64 " to %" PRId64 ", default %" PRId64 "\n", symbol->min, symbol->max, symbol->value);
  }
}

void kiln_cli_help(const kiln_model *model, const char *program) {
  printf("usage: ");
  kiln_cli_put(stdout, program);
  printf(" [INPUT.npy ...] [options]\nRuns the model ");
  kiln_cli_put(stdout, model->name);
  fputs(". Files are its inputs in declared order; those that have a default may be left out.\n\n"
        "  --input NAME=FILE  an input by its name\n"
        "  --output-dir DIR   write output_0.npy, output_1.npy ... there\n"
        "  --random[=SEED]    fill the inputs that are not given\n"
        "  --at NAME=SIZE,... with these sizes, where files do not say\n"
        "  --bench[=N]        time N runs (100), with --random where inputs are missing\n"
        "  --quiet            do not say on a terminal how far that is\n"
        "  --profile[=FILE]   the kernels of 10 runs, or of --bench=N, by share of time; to FILE as\n"
        "                     Chrome's trace events\n"
        "  --threads N        CPU threads (one per core)\n",
        stdout);
  if (kiln_reads_weights(model))
    fputs("  --weights FILE     take the weights from this safetensors file\n", stdout);
  fputs("  --list             names, dtypes and shapes of inputs and outputs\n"
        "  -h, --help         this text\n\n"
        "In the environment DEBUG=1 says what is opened and DEBUG=2 logs every launch, too; any text but 0 to 7 is\n"
        "taken for another program's. KILN_CUDA_DEVICE and KILN_OPENCL_DEVICE name the GPU, by a part of what\n"
        "`kiln devices` calls it. Exit status: 0, 1 for a failure, 2 for wrong use.\n",
        stdout);
}
