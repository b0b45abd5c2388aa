/*===- file.h - Files that appear whole or not at all --------------------===*/
#ifndef KILN_CLI_FILE_H
#define KILN_CLI_FILE_H

#include "../text.h"

#include <stdbool.h>
#include <stdio.h>

/* A whole file that is not where it is to lie. It has no name, so that nothing is left of it however the process ends,
 * where the file system can make such files and the process may open as many; else one beginning with "kiln-tmp-". */
typedef struct kiln_staged {
  FILE *file; /* without a name; NULL: it has one */
  char *name; /* what it is called before it has its own, if it is; NULL: there is no file */
} kiln_staged;

/* Writes to `file` what `user` says and returns whether it could. */
typedef bool kiln_writer(FILE *file, const void *user);

/* Makes a file in `folder`, on the disk when this returns. On failure there is none, and `cause` says why. */
kiln_status kiln_file_stage(const char *folder, kiln_writer *write, const void *user, kiln_staged *staged,
                            kiln_text *cause);
/* Gives it the name `path`, as seen from the open folder `at` or AT_FDCWD, in place of what has it; a link is replaced,
 * not followed. False: errno says why not. */
bool kiln_file_place(kiln_staged *staged, int at, const char *path);
/* The end of a staged file, placed or not; what was not placed is gone. */
void kiln_file_drop(kiln_staged *staged);

/* Whether a file can be made at `path`; or where it `is_folder`, in that folder, which is still to be made where it is
 * not there. Nothing is left of the trial. If not, `cause` says why. */
kiln_status kiln_file_try(const char *path, bool is_folder, kiln_text *cause);

/* Has `write` fill a file and then gives it its name, in place of what has it. On failure nothing is left behind and
 * `cause` says why. */
kiln_status kiln_file_write(const char *path, kiln_writer *write, const void *user, kiln_text *cause);

#endif
