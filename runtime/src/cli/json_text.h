/*===- json_text.h - Results for scripts to read -------------------------===
 *
 * With --json standard output is one JSON document and nothing else. Its first member is "version": a reader that knows
 * this version may ignore members that it does not know.
 *
 *===---------------------------------------------------------------------===*/
#ifndef KILN_CLI_JSON_TEXT_H
#define KILN_CLI_JSON_TEXT_H

#include "kiln/program.h"

#include <stdio.h>

#define KILN_JSON_VERSION 2

/* A string with its quotes. Bytes that are not UTF-8 become U+FFFD. It has no '<', so that a web page may hold it. */
void kiln_json_put(FILE *file, const char *text);

/* The names in a launch's "['conv1', 'relu']", as an array; of "" an empty one. */
void kiln_json_put_nodes(FILE *file, const char *origin);

/* `{"version":2,"model":"NAME"`, to be followed by further members and a brace. */
void kiln_json_begin(FILE *file, const kiln_model *model);

/* `,"sizes":{"batch":2}`: the size of each symbol of the model. */
void kiln_json_sizes(FILE *file, const kiln_model *model, const int64_t *sizes);

/* `{"version":2,"error":"LINE"}` and an end of line. */
void kiln_json_put_failure(FILE *file, const char *line);

#endif
