/*===- list.c - A program's inputs and outputs ---------------------------===*/
#include "../sequence.h"
#include "cli.h"
#include "json_text.h"

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

static void list_ports_json(const char *kind, const kiln_port *ports, int32_t count) {
  printf(",\"%s\":[", kind);
  for (int32_t i = 0; i < count; i++) {
    const kiln_port *port = &ports[i];
    fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
    kiln_json_put(stdout, port->name);
    const kiln_port *tensor = port->element ? kiln_tensor_port(port) : port;
    printf(",\"dtype\":\"%s\"", kiln_dtype_name(tensor->dtype));
    if (port->element)
      printf(",\"kind\":\"%s\"", kiln_dtype_name(port->dtype));
    if (tensor->rank >= 0) {
      fputs(",\"shape\":[", stdout);
      for (int32_t axis = 0; axis < tensor->rank; axis++) {
        fputs(axis ? "," : "", stdout);
        if (tensor->dims[axis].size >= 0)
          printf("%" PRId64, tensor->dims[axis].size);
        else
          kiln_json_put(stdout, tensor->dims[axis].text);
      }
      putchar(']');
    }
    if (port->optional_axes)
      printf(",\"optional_axes\":%" PRId32, port->optional_axes);
    printf("%s}", port->value ? ",\"has_default\":true" : "");
  }
  putchar(']');
}

void kiln_cli_list_json(const kiln_model *model) {
  kiln_json_begin(stdout, model);
  list_ports_json("inputs", model->inputs, model->input_count);
  list_ports_json("outputs", model->outputs, model->output_count);
  fputs(",\"aliases\":[", stdout);
  for (int32_t i = 0; i < model->alias_count; i++) {
    const kiln_alias *alias = &model->aliases[i];
    fputs(i ? ",{\"output\":" : "{\"output\":", stdout);
    kiln_json_put(stdout, model->outputs[alias->output].name);
    fputs(",\"input\":", stdout);
    kiln_json_put(stdout, model->inputs[alias->input].name);
    if (alias->axis >= 0)
      printf(",\"axis\":%" PRId32 ",\"capacity\":%" PRId64, alias->axis, alias->capacity);
    putchar('}');
  }
  fputs("],\"symbols\":[", stdout);
  for (int32_t i = 0; i < model->symbol_count; i++) {
    const kiln_symbol *symbol = &model->symbols[i];
    fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
    kiln_json_put(stdout, symbol->name);
    printf(",\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"default\":%" PRId64 "}", symbol->min, symbol->max,
           symbol->value);
  }
  puts("]}");
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
        "                     Instead of a .npy file, values: 3, [[1, 2], [3, 4]] or 2x2xf32=0. An input of\n"
        "                     bytes, uint8 of one axis, takes any file.\n"
        "  --output-dir DIR   write output_0.npy, output_1.npy ... there\n"
        "  --output-names     there also NAME.npy, after the name of each output\n"
        "  --no-print         do not print the outputs\n"
        "  --random[=SEED]    fill the inputs that are not given\n"
        "  --at NAME=SIZE,... with these sizes, where files do not say\n"
        "  --bench[=N]        time N runs (100), with --random where inputs are missing, and print no\n"
        "                     outputs: median 5.292 us, min 5.201 us over 100 runs\n"
        "  --quiet            no progress on a terminal\n"
        "  --profile[=FILE]   the nodes of 10 runs, or of --bench=N, by share of time, next to the expected\n"
        "                     time and the share of the roofline; to FILE as Chrome's trace events\n"
        "  --profile-kernels  the same with a row for each kernel of a node\n"
        "  --kernel NAME      of what DEBUG=2 and --profile-kernels show, this kernel alone; a * stands for\n"
        "                     any letters\n"
        "  --threads N        CPU threads (one per core)\n"
        "  --json             print one JSON document: of --list, --bench, --profile, or of the outputs their\n"
        "                     names, dtypes and shapes; an error is one JSON line\n",
        stdout);
  if (kiln_reads_weights(model))
    fputs("  --weights FILE     take the weights from this safetensors file\n", stdout);
  fputs("  --list             names, dtypes and shapes of inputs and outputs\n"
        "  --version          which model this is, and what made it for which CPU and system\n"
        "  -h, --help         this text\n\n"
        "In the environment DEBUG=1 says what is opened and DEBUG=2 logs every launch, too; any text but 0 to 7 is\n"
        "taken for another program's. KILN_CUDA_DEVICE and KILN_OPENCL_DEVICE name the GPU, by a part of what\n"
        "`kiln devices` calls it. Exit status: 0, 1 for a failure, 2 for wrong use.\n",
        stdout);
}
