/*===- no_streams.c - Nothing in place of a terminal's streams -----------===
 *
 * Archives of systems refer to these in a way that no shared library can have. The codecs keep the libraries from
 * writing, so nothing ever looks at the replacements within an object.
 *
 *===---------------------------------------------------------------------===*/
#include <stdio.h>

#ifdef KILN_ONE_OBJECT
#undef stderr
#undef stdout
FILE *stderr, *stdout;
#else
typedef int kiln_no_streams; /* a file is not empty */
#endif
