/*===- file.h - Files that appear whole or not at all --------------------===*/
#ifndef KILN_CLI_FILE_H
#define KILN_CLI_FILE_H

#include "../text.h"

#include <stdbool.h>
#include <stdio.h>

/* A whole file that is not in its place yet. It has no name, so that nothing of it is left however the process ends, if
 * the file system can make such files and the process may open as many; else a name that begins with "kiln-tmp-". */
typedef struct kiln_staged {
  FILE *file; /* without a name; NULL: it has one */
  char *name; /* its name before it has its own, if any; NULL: there is no file */
} kiln_staged;

/* Writes to `file` as `user` says and returns whether it could. */
typedef bool kiln_writer(FILE *file, const void *user);

/* Makes a file in `folder`, on the disk when this returns. On failure there is none, and `cause` says why. */
kiln_status kiln_file_stage(const char *folder, kiln_writer *write, const void *user, kiln_staged *staged,
                            kiln_text *cause);
/* Gives it the name `path`, relative to the open folder `at` or AT_FDCWD, and replaces an older file; a link is
 * replaced, not followed. False: errno says why not. */
bool kiln_file_place(kiln_staged *staged, int at, const char *path);
/* The end of a staged file, placed or not; one that was not placed is removed. */
void kiln_file_drop(kiln_staged *staged);

/* Whether a file can be made at `path`; or if `is_folder`, in that folder, which may still have to be made. Nothing is
 * left of the trial. If not, `cause` says why. */
kiln_status kiln_file_try(const char *path, bool is_folder, kiln_text *cause);

/* Has `write` fill a file and then gives it its name, replacing an older file. On failure no file is left and `cause`
 * says why. */
kiln_status kiln_file_write(const char *path, kiln_writer *write, const void *user, kiln_text *cause);

#endif
