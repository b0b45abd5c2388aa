/*===- no_streams.c - Of what is written to a terminal, nothing ----------===
 *
 * Archives of systems refer to these in a way that no shared library can have. The codecs keep the libraries from
 * writing, so what stands for them within an object is never looked at.
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
