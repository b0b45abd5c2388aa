/*===- args.c - The command line as data ----------------------------------===
 *
 * A compiled program parses its own command line, and so does `kiln run`, which hands its arguments on to the same
 * functions. The meaning of an argument depends on the model: files are inputs in declared order, and names of inputs
 * and sizes may hold any character. So "a=b=x.npy" is not split at a '='. It is compared with the model's names, since
 * "a=b" may be one.
 * A mistake is one line with the argument, what is wrong with it and what to give instead.
 *
 *===----------------------------------------------------------------------===*/
#include "args.h"
#include "literal.h"
#include "nearest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RUNS 100
enum { MOST_EDITS = 2, ANY_EDITS = 100 }; /* of a guess: an option is a word of the language, a name may be any */

enum option {
  INPUT,
  OUTPUT_DIR,
  RANDOM,
  BENCH,
  THREADS,
  AT,
  WEIGHTS,
  LIST,
  HELP,
  PROFILE,
  QUIET,
  JSON,
  NO_PRINT,
  OUTPUT_NAMES,
  PROFILE_KERNELS,
  VERSION,
  KERNEL
};

/* An option's name, and whether it has a value: "--name=VALUE", or the next argument if it must have one. */
typedef struct spelling {
  const char *name;
  enum { NO_VALUE, MAY_HAVE_VALUE, HAS_VALUE } kind;
  enum option option;
} spelling;

static const spelling spellings[] = {
    {"--input", HAS_VALUE, INPUT},
    {"--output-dir", HAS_VALUE, OUTPUT_DIR},
    {"--random", MAY_HAVE_VALUE, RANDOM},
    {"--bench", MAY_HAVE_VALUE, BENCH},
    {"--threads", HAS_VALUE, THREADS},
    {"--at", HAS_VALUE, AT},
    {"--weights", HAS_VALUE, WEIGHTS},
    {"--list", NO_VALUE, LIST},
    {"--help", NO_VALUE, HELP},
    {"-h", NO_VALUE, HELP},
    {"--profile", MAY_HAVE_VALUE, PROFILE},
    {"--quiet", NO_VALUE, QUIET},
    {"--json", NO_VALUE, JSON},
    {"--no-print", NO_VALUE, NO_PRINT},
    {"--output-names", NO_VALUE, OUTPUT_NAMES},
    {"--profile-kernels", NO_VALUE, PROFILE_KERNELS},
    {"--version", NO_VALUE, VERSION},
    {"--kernel", HAS_VALUE, KERNEL},
};

static kiln_status wrong(kiln_text *cause, const char *what, const char *remedy) {
  kiln_text_add(cause, "%s: %s", what, remedy);
  return KILN_INVALID_ARGUMENT;
}

/* The same about a name. The remedy is the guess, or `otherwise` if no name is near. */
static kiln_status wrong_name(kiln_text *cause, const char *what, const char *problem, const kiln_guess *guess,
                              const char *otherwise) {
  kiln_text_add(cause, "%s: %s; ", what, problem);
  if (guess->best)
    kiln_text_add(cause, "did you mean '%s'?", guess->best);
  else
    kiln_text_add(cause, "%s", otherwise);
  return KILN_INVALID_ARGUMENT;
}

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && !*end && errno == 0 && *value >= least && *value <= most;
}

static kiln_status set_file(const kiln_model *model, kiln_args *args, int32_t index, const char *file,
                            kiln_text *cause) {
  if (args->files[index]) {
    kiln_text_add(cause, "%s: input '%s' has a file already, %s; give each once", file, model->inputs[index].name,
                  args->files[index]);
    return KILN_INVALID_ARGUMENT;
  }
  args->files[index] = file;
  return KILN_OK;
}

/* NAME=FILE. Names may hold a '=', so this compares with the model's names instead of splitting the text. */
static kiln_status name_input(const kiln_model *model, kiln_args *args, const char *value, kiln_text *cause) {
  kiln_guess guess = kiln_guess_of(value, strcspn(value, "="), ANY_EDITS);
  for (int32_t i = 0; i < model->input_count; i++) {
    size_t length = strlen(model->inputs[i].name);
    kiln_guess_add(&guess, model->inputs[i].name);
    if (strncmp(value, model->inputs[i].name, length) == 0 && value[length] == '=')
      return set_file(model, args, i, value + length + 1, cause);
  }
  return strchr(value, '=') ? wrong_name(cause, value, "no input has this name", &guess, "--list shows the names")
                            : wrong(cause, value, "wanted --input NAME=FILE");
}

/* NAME=SIZE,NAME=SIZE… */
static kiln_status set_sizes(const kiln_model *model, kiln_args *args, const char *value, kiln_text *cause) {
  for (const char *at = value; *at;) {
    int32_t found = 0;
    size_t length = 0;
    for (; found < model->symbol_count; found++) {
      length = strlen(model->symbols[found].name);
      if (strncmp(at, model->symbols[found].name, length) == 0 && at[length] == '=')
        break;
    }
    if (found == model->symbol_count)
      return wrong(cause, at, "wanted --at NAME=SIZE, a size that the model leaves open; --list shows them");
    if (args->sizes[found] >= 0) {
      kiln_text_add(cause, "--at: '%s' is given twice; give it once", model->symbols[found].name);
      return KILN_INVALID_ARGUMENT;
    }
    const kiln_symbol *symbol = &model->symbols[found];
    char *end;
    errno = 0;
    int64_t size = strtoll(at += length + 1, &end, 10);
    if (end == at || errno || (*end && *end != ',') || size < symbol->min || size > symbol->max) {
      kiln_text_add(cause, "%.*s: wanted a size from %" PRId64 " to %" PRId64 " for %s", (int)strcspn(at, ","), at,
                    symbol->min, symbol->max, symbol->name);
      return KILN_INVALID_ARGUMENT;
    }
    args->sizes[found] = size;
    at = end + (*end == ',');
  }
  return KILN_OK;
}

/* Whether a name is `pattern`, in which a '*' stands for any letters. */
static bool matches(const char *name, const char *pattern) {
  for (; *pattern && *pattern != '*'; name++, pattern++)
    if (*name != *pattern)
      return false;
  if (!*pattern)
    return !*name;
  for (;; name++) {
    if (matches(name, pattern + 1))
      return true;
    if (!*name)
      return false;
  }
}

bool kiln_args_show(const kiln_args *args, const char *kernel) {
  for (int32_t i = 0; i < args->kernel_count; i++)
    if (matches(kernel, args->kernels[i]))
      return true;
  return args->kernel_count == 0;
}

static kiln_status add_kernel(const kiln_model *model, kiln_args *args, const char *value, kiln_text *cause) {
  if (args->kernel_count == KILN_MOST_KERNEL_NAMES)
    return wrong(cause, value, "one name of --kernel too many; use a *");
  bool is_there = false;
  kiln_guess guess = kiln_guess_of(value, strlen(value), ANY_EDITS);
  for (const kiln_model *version = model; version; version = version->otherwise)
    for (int32_t i = 0; i < version->kernel_count; i++) {
      is_there |= matches(version->kernels[i].name, value);
      kiln_guess_add(&guess, version->kernels[i].name);
    }
  if (!is_there)
    return wrong_name(cause, value, "no kernel has this name", &guess, "--profile-kernels shows them");
  args->kernels[args->kernel_count++] = value;
  return KILN_OK;
}

static kiln_status set_option(const kiln_model *model, kiln_args *args, enum option option, const char *value,
                              kiln_text *cause) {
  uint64_t count = DEFAULT_RUNS;
  switch (option) {
  case INPUT:
    return name_input(model, args, value, cause);
  case AT:
    return set_sizes(model, args, value, cause);
  case KERNEL:
    return add_kernel(model, args, value, cause);
  case OUTPUT_DIR:
    args->output_dir = value;
    break;
  case WEIGHTS:
    args->weights = value;
    break;
  case LIST:
    args->list = true;
    break;
  case HELP:
    args->help = true;
    break;
  case VERSION:
    args->version = true;
    break;
  case QUIET:
    args->quiet = true;
    break;
  case JSON:
    args->json = true;
    break;
  case NO_PRINT:
    args->no_print = true;
    break;
  case OUTPUT_NAMES:
    args->output_names = true;
    break;
  case PROFILE_KERNELS:
    args->profile = args->profile_kernels = true;
    break;
  case PROFILE:
    args->profile = true;
    args->trace = value;
    if (value && !*value)
      return wrong(cause, "--profile=", "wanted --profile=FILE, or --profile alone");
    break;
  case RANDOM:
    args->random = true;
    if (value && !number(value, 0, UINT64_MAX, &args->seed))
      return wrong(cause, value, "wanted --random=SEED, a whole number");
    break;
  case BENCH:
    if (value && !number(value, 1, 1000000000, &count))
      return wrong(cause, value, "wanted --bench=N, from 1 to 1000000000 runs");
    args->bench = (int32_t)count;
    break;
  case THREADS:
    if (!number(value, 1, 1024, &count))
      return wrong(cause, value, "wanted --threads N, from 1 to 1024");
    args->threads = (int32_t)count;
    break;
  }
  return KILN_OK;
}

static const spelling *find_option(const char *argument, size_t length) {
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    if (strlen(spellings[i].name) == length && memcmp(spellings[i].name, argument, length) == 0)
      return &spellings[i];
  return NULL;
}

static kiln_status no_option(const char *argument, size_t length, kiln_text *cause) {
  kiln_guess guess = kiln_guess_of(argument, length, MOST_EDITS);
  for (size_t i = 0; length > 2 && i < sizeof spellings / sizeof *spellings; i++)
    kiln_guess_add(&guess, spellings[i].name);
  return wrong_name(cause, argument, "no such option", &guess, "see --help");
}

/* Refuses a number after an option whose own number stands after a '=': it would be taken for an input. */
static kiln_status check_number(const char *option, const char *argument, kiln_text *cause) {
  uint64_t value;
  if (!option || !number(argument, 0, UINT64_MAX, &value))
    return KILN_OK;
  kiln_text_add(cause, "%s %s: write %s=%s, or give an input's value before %s", option, argument, option, argument,
                option);
  return KILN_INVALID_ARGUMENT;
}

kiln_status kiln_args_parse(const kiln_model *model, int argc, char **argv, kiln_args *args, kiln_text *cause) {
  int32_t position = 0;
  for (int32_t i = 0; i < model->symbol_count; i++)
    args->sizes[i] = -1;
  /* A wrong argument is reported in the form that is asked for, wherever in the line that option is. */
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    args->json |= strcmp(argv[i], "--json") == 0;
  bool only_files = false;
  const char *counted = NULL; /* the option before, if it may have a number and has none */
  kiln_status status = KILN_OK;
  for (int i = 1; i < argc && !status; i++) {
    const char *argument = argv[i], *option = counted;
    counted = NULL;
    if (!only_files && strcmp(argument, "--") == 0) {
      only_files = true;
    } else if (only_files || argument[0] != '-' || kiln_is_literal(argument)) { /* -4 is a value */
      if ((status = check_number(option, argument, cause)))
        return status;
      status = position < model->input_count
                   ? set_file(model, args, position++, argument, cause)
                   : wrong(cause, argument, "one file more than the model has inputs; --list shows them");
    } else {
      size_t length = strcspn(argument, "=");
      const spelling *found = find_option(argument, length);
      const char *value = argument[length] ? argument + length + 1 : NULL;
      if (!found)
        return no_option(argument, length, cause);
      if (value && found->kind == NO_VALUE)
        return wrong(cause, argument, "this option takes no value");
      if (!value && found->kind == HAS_VALUE && ++i >= argc)
        return wrong(cause, argument, "this option wants a value; see --help");
      if (!value && (found->option == BENCH || found->option == RANDOM))
        counted = found->name;
      status = set_option(model, args, found->option, !value && found->kind == HAS_VALUE ? argv[i] : value, cause);
    }
  }
  if (!status && args->output_names && !args->output_dir)
    return wrong(cause, "--output-names", "names files of --output-dir; give that as well");
  return status;
}
