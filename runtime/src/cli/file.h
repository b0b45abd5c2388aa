/*===- file.h - Files that appear whole or not at all --------------------===*/
#ifndef KILN_CLI_FILE_H
#define KILN_CLI_FILE_H

#include "../text.h"

#include <stdbool.h>
#include <stdio.h>

/* Has `write` fill a file and then gives it its name, in place of what has it. `write` returns whether it could. On
 * failure nothing is left behind and `cause` says why. */
kiln_status kiln_file_write(const char *path, bool (*write)(FILE *file, const void *user), const void *user,
                            kiln_text *cause);

#endif
