/*===- clock.h - Time that never goes back -------------------------------===*/
#ifndef KILN_SRC_CLOCK_H
#define KILN_SRC_CLOCK_H

double kiln_seconds(void);

#endif
