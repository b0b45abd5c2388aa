/*===- terminal.h - Standard error on a terminal -------------------------===*/
#ifndef KILN_CLI_TERMINAL_H
#define KILN_CLI_TERMINAL_H

/* The name of a program before its error, in the colour of errors. */
void kiln_put_culprit(const char *program);

#endif
