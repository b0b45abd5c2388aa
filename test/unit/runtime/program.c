/*===- program.c - The model written by hand, as a program ---------------===*/
#include "affine.c"

const kiln_model kiln_the_model = AFFINE(weight_data);
