/*===- cli.c - The command line of a compiled model -----------------------===
 *
 * A compiled model is a program that can be tried without writing any code: it takes inputs from files or at random,
 * runs, prints the outputs, and on request writes them to files or times the run. The steps go from cheap to expensive,
 * so that a mistake is reported before anybody has waited: arguments, the inputs' files, then the device and the
 * weights, which may be gigabytes.
 * `kiln run` calls the same function in its own process, so everything is given back also after an error. Wrong use
 * ends with status 2, a failure with 1, both with one line on standard error.
 *
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "cli.h"
#include "file.h"
#include "json_text.h"
#include "profile.h"
#include "terminal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_WRONG_USE = 2, PROFILED_RUNS = 10, PATH_ROOM = 4096, KERNELS_LEVEL = 2 };

/* The level that DEBUG in the environment asks for. Other programs have uses of their own for it, DEBUG=true, so other
 * text is ignored. */
static int32_t debug_level(void) {
  const char *debug = getenv("DEBUG");
  return debug && debug[0] >= '0' && debug[0] <= '7' && !debug[1] ? debug[0] - '0' : 0;
}

/* Whose launches the log shows. */
typedef struct watched {
  const kiln_model *model;
  const kiln_args *args;
} watched;

static const kiln_kernel *find_kernel(const kiln_model *model, const char *name, size_t length) {
  for (; model; model = model->otherwise)
    for (int32_t i = 0; i < model->kernel_count; i++)
      if (strlen(model->kernels[i].name) == length && memcmp(model->kernels[i].name, name, length) == 0)
        return &model->kernels[i];
  return NULL;
}

/* Of a launch's line only the kernel's name is coloured, and with --kernel only lines of that kernel are shown. */
static void log_line(void *user, const char *line) {
  const watched *seen = user;
  int begin = 0;
  sscanf(line, "*** %*s %*d %n", &begin);
  size_t length = strcspn(line + begin, " ");
  const kiln_kernel *kernel = begin ? find_kernel(seen->model, line + begin, length) : NULL;
  if (kernel && !kiln_args_show(seen->args, kernel->name))
    return;
  char painted[KILN_TEXT_BYTES];
  if (kernel && kiln_has_colours()) {
    kiln_paint_kernel(kernel->name, kernel->axes, painted, sizeof painted);
    fprintf(stderr, "%.*s%s", begin, line, painted);
    line += (size_t)begin + length;
  }
  kiln_cli_put(stderr, line);
  putc('\n', stderr);
}

void kiln_cli_name_variables(const char *program) {
  if (!kiln_has_terminal() && debug_level() == 0)
    return;
  for (const kiln_ignored_variable *each = kiln_ignored_variables; each->name; each++) {
    const char *value = kiln_ignored_value(each);
    if (!value)
      continue;
    kiln_cli_put(stderr, program);
    fprintf(stderr, ": %s=", each->name);
    kiln_cli_put(stderr, value);
    fprintf(stderr, ": has no effect; %s\n", each->of_program);
  }
}

const char *kiln_device_in_environment(const kiln_model *model) {
  const char *chosen = NULL;
  for (int32_t i = 0; i < model->device_count && !chosen; i++) {
    char name[64] = "KILN_";
    size_t length = strlen(name);
    for (const char *c = model->devices[i].device->name; *c && length < 32; c++)
      name[length++] = (char)toupper((unsigned char)*c);
    memcpy(name + length, "_DEVICE", sizeof "_DEVICE");
    chosen = getenv(name);
  }
  return chosen;
}

static kiln_options options_of(const watched *seen, kiln_profile *profile) {
  return (kiln_options){
      .size = sizeof(kiln_options),
      .threads = seen->args->threads,
      .weights_path = seen->args->weights,
      .debug = debug_level(),
      .log = log_line,
      .log_user = (void *)seen,
      .device = kiln_device_in_environment(seen->model),
      .span = profile ? kiln_profile_span : NULL,
      .span_user = profile,
  };
}

static bool is_pending(int signal) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

/* What went wrong with standard output, as in errno; 0: nothing, -1: nobody knows. */
static int output_error(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return 0;
  return is_pending(SIGPIPE) ? EPIPE : errno ? errno : -1;
}

static kiln_status check_output(int error, kiln_text *cause) {
  if (error)
    kiln_text_add(cause, "standard output: cannot be written%s%s; send it elsewhere", error > 0 ? ": " : "",
                  error > 0 ? strerror(error) : "");
  return error ? KILN_IO_ERROR : KILN_OK;
}

/* Names, dtypes and shapes: values may be too long for a reader of JSON, and files have them. */
static void describe_outputs(const kiln_model *model, const kiln_tensor *outputs, const int64_t *sizes) {
  kiln_json_begin(stdout, model);
  kiln_json_sizes(stdout, model, sizes);
  fputs(",\"outputs\":[", stdout);
  for (int32_t i = 0; i < model->output_count; i++) {
    fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
    kiln_json_put(stdout, model->outputs[i].name);
    printf(",\"dtype\":\"%s\",\"shape\":[", kiln_dtype_name(outputs[i].dtype));
    for (int32_t axis = 0; axis < outputs[i].rank; axis++)
      printf("%s%" PRId64, axis ? "," : "", outputs[i].dims[axis]);
    fputs("]}", stdout);
  }
  puts("]}");
}

static void print_outputs(const kiln_model *model, const kiln_args *args, const kiln_tensor *outputs,
                          const int64_t *sizes) {
  if (args->bench || args->profile)
    return;
  if (args->json)
    describe_outputs(model, outputs, sizes);
  for (int32_t i = 0; i < model->output_count && !args->json && !args->no_print; i++)
    kiln_print_tensor(stdout, model->outputs[i].name, &outputs[i]);
}

/* Prints the outputs, and then writes them to files. Files do not depend on a reader of the pipe, as `head` is, so a
 * closed one ends the process after they have their names. */
static kiln_status print_and_write(const kiln_model *model, const kiln_args *args, const kiln_tensor *outputs,
                                   const int64_t *sizes, kiln_text *cause) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  print_outputs(model, args, outputs, sizes);
  int error = output_error();
  kiln_status status = error == EPIPE ? KILN_OK : check_output(error, cause);
  if (!status && args->output_dir)
    status = kiln_cli_write(model, args, outputs, cause);
  int taken;
  if (status && is_pending(SIGPIPE))
    sigwait(&pipe, &taken);                    /* the error has to be seen */
  pthread_sigmask(SIG_SETMASK, &before, NULL); /* a signal that waits ends the process here */
  return status ? status : check_output(error, cause);
}

/* Shows the outputs. A tensor in memory with room for more is shown without that room. */
static kiln_status show_outputs(const kiln_model *model, const kiln_args *args, const kiln_tensor *outputs,
                                const int64_t *sizes, kiln_text *cause) {
  kiln_tensor *shown = calloc((size_t)model->output_count + 1, sizeof *shown);
  kiln_status status = shown ? KILN_OK : KILN_OUT_OF_MEMORY;
  if (shown)
    memcpy(shown, outputs, (size_t)model->output_count * sizeof *shown);
  int32_t taken = 0;
  for (; !status && taken < model->alias_count; taken++)
    if (!kiln_room_take(&model->aliases[taken], &shown[model->aliases[taken].output]))
      status = KILN_OUT_OF_MEMORY;
  if (status)
    kiln_text_add(cause, "no memory to show the outputs");
  if (!status)
    status = print_and_write(model, args, shown, sizes, cause);
  for (int32_t i = 0; i < taken; i++) {
    int32_t output = model->aliases[i].output;
    if (shown[output].data != outputs[output].data)
      free(shown[output].data);
  }
  free(shown);
  return status;
}

static kiln_status run_with(kiln_context *context, const kiln_model *model, const kiln_args *args,
                            const kiln_tensor *inputs, kiln_tensor *outputs, const int64_t *sizes,
                            kiln_profile *profile, kiln_text *cause) {
  kiln_status status = kiln_run(context, inputs, model->input_count, outputs, model->output_count);
  if (status) {
    kiln_text_add(cause, "%s%s", kiln_context_error(context),
                  status == KILN_OUT_OF_MEMORY ? "; run it at smaller sizes, or end other programs" : "");
    return status;
  }
  if ((status = show_outputs(model, args, outputs, sizes, cause)))
    return status;
  if (profile)
    return kiln_profile_runs(profile, context, model, inputs, args->bench ? args->bench : PROFILED_RUNS, cause);
  return args->bench ? kiln_cli_bench(context, model, args, inputs, sizes, cause) : KILN_OK;
}

const char *kiln_cli_base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "kiln";
}

/* The path of weights that nobody names: in the folder of the program's file, wherever links to it lie, and with its
 * name. Empty: the program's file is not known. */
static void find_beside(char path[PATH_ROOM]) {
  static const char ending[] = ".safetensors";
  const ssize_t room = PATH_ROOM - sizeof ending;
  ssize_t length = readlink("/proc/self/exe", path, (size_t)room);
  if (length <= 0 || length == room)
    path[0] = 0;
  else
    memcpy(path + length, ending, sizeof ending);
}

static kiln_status take_weights_beside(kiln_args *args, char path[PATH_ROOM], kiln_text *cause) {
  find_beside(path);
  if (path[0] && access(path, F_OK) == 0) {
    args->weights = path;
    return KILN_OK;
  }
  kiln_text_add(cause, "the weights are not part of this program; name their file with --weights FILE");
  if (path[0])
    kiln_text_add(cause, ", or put it at %s", path);
  return KILN_INVALID_ARGUMENT;
}

static kiln_status try_place(const char *path, bool is_folder, const char *remedy, kiln_text *cause) {
  if (!path)
    return KILN_OK;
  kiln_text_add(cause, "%s: cannot be written: ", path);
  kiln_status status = kiln_file_try(path, is_folder, cause);
  if (status)
    kiln_text_add(cause, "; %s", remedy);
  else
    cause->length = 0;
  return status;
}

/* Whether the results can be written: a run may be long. */
static kiln_status try_places(const kiln_args *args, kiln_text *cause) {
  kiln_status status = try_place(args->output_dir, true, "give another --output-dir", cause);
  return status ? status : try_place(args->trace, false, "name another place with --profile=FILE", cause);
}

static kiln_status run_program(const kiln_model *model, kiln_args *args, kiln_tensor *inputs, kiln_tensor *outputs,
                               int64_t *sizes, bool *wrong_use, kiln_text *cause) {
  char error[KILN_TEXT_BYTES];
  if (args->kernel_count && !args->profile_kernels && debug_level() < KERNELS_LEVEL) {
    kiln_text_add(cause, "--kernel %s: chooses what DEBUG=2 and --profile-kernels show; add one of them",
                  args->kernels[0]);
    *wrong_use = true;
    return KILN_INVALID_ARGUMENT;
  }
  kiln_status status = try_places(args, cause);
  if (!status)
    status = kiln_cli_inputs(model, args, inputs, sizes, wrong_use, cause);
  if (status)
    return status;
  if (args->weights && !kiln_reads_weights(model)) {
    kiln_text_add(cause, "--weights %s: this program has %s; leave it out", args->weights,
                  model->weight_count ? "its weights in it" : "no weights");
    *wrong_use = true;
    return KILN_INVALID_ARGUMENT;
  }
  char beside[PATH_ROOM];
  bool lacks_weights = kiln_reads_weights(model) && !args->weights;
  if (lacks_weights && (status = take_weights_beside(args, beside, cause))) {
    *wrong_use = true;
    return status;
  }
  kiln_profile *profile = args->profile ? kiln_profile_create() : NULL;
  if (args->profile && !profile) {
    kiln_text_add(cause, "no memory to profile");
    return KILN_OUT_OF_MEMORY;
  }
  watched seen = {model, args};
  kiln_options options = options_of(&seen, profile);
  kiln_context *context;
  if ((status = kiln_context_create(model, &options, &context, error, sizeof error))) {
    kiln_text_add(cause, "%s", error);
  } else {
    status = run_with(context, model, args, inputs, outputs, sizes, profile, cause);
    kiln_context_destroy(context);
    if (!status && args->trace)
      status = kiln_profile_write(profile, model, args->trace, cause);
    if (!status && args->json && profile)
      status = kiln_profile_print_json(profile, model, args, sizes, cause);
    else if (!status && profile && !args->trace)
      status = kiln_profile_print(profile, model, args, sizes, cause);
  }
  kiln_profile_destroy(profile);
  return status;
}

static void print_error(const char *program, const char *line, bool as_json) {
  if (as_json) {
    kiln_json_put_failure(stderr, line);
    return;
  }
  kiln_put_culprit(program);
  kiln_cli_put(stderr, line);
  putc('\n', stderr);
}

int kiln_cli_main(const kiln_model *model, int argc, char **argv) {
  const char *program = kiln_cli_base_name(argc > 0 ? argv[0] : NULL);
  char line[2 * KILN_TEXT_BYTES];
  kiln_text cause = kiln_text_in(line, sizeof line);
  size_t inputs_room = (size_t)model->input_count + 1, outputs_room = (size_t)model->output_count + 1;
  kiln_args args = {.files = calloc(inputs_room, sizeof *args.files),
                    .sizes = calloc((size_t)model->symbol_count + 1, sizeof *args.sizes)};
  kiln_tensor *inputs = calloc(inputs_room, sizeof *inputs), *outputs = calloc(outputs_room, sizeof *outputs);
  int64_t *sizes = calloc((size_t)model->symbol_count + 1, sizeof *sizes);
  kiln_status status = KILN_OUT_OF_MEMORY;
  bool wrong_use = false;
  if (!args.files || !args.sizes || !inputs || !outputs || !sizes)
    kiln_text_add(&cause, "no memory for the names of the inputs");
  else if ((status = kiln_args_parse(model, argc, argv, &args, &cause)))
    wrong_use = true;
  else if (args.help)
    kiln_cli_help(model, program);
  else if (args.version)
    kiln_cli_version(model, args.json);
  else if (args.list)
    (args.json ? kiln_cli_list_json : kiln_cli_list)(model);
  else
    status = run_program(model, &args, inputs, outputs, sizes, &wrong_use, &cause);
  if (!status)
    status = check_output(output_error(), &cause);
  if (status)
    print_error(program, line, args.json);
  for (int32_t i = 0; inputs && i < model->input_count; i++)
    kiln_cli_release(&inputs[i]);
  free(sizes);
  free(outputs);
  free(inputs);
  free(args.sizes);
  free((void *)args.files);
  return status == KILN_OK ? EXIT_SUCCESS : wrong_use ? EXIT_WRONG_USE : EXIT_FAILURE;
}
