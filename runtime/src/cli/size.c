/*===- size.c - Sizes as they are declared -------------------------------===*/
#include "kiln/cli.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MOST_DEPTH 64

typedef struct parser {
  const kiln_model *model;
  const int64_t *sizes;
  const char *at;
  int depth;
} parser;

static bool sum(parser *p, int64_t *value);

static bool take(parser *p, const char *token) {
  p->at += strspn(p->at, " ");
  size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0)
    return false;
  p->at += length;
  return true;
}

static bool extremum(parser *p, bool largest, int64_t *value) {
  int64_t other;
  if (!take(p, "(") || !sum(p, value))
    return false;
  while (take(p, ",")) {
    if (!sum(p, &other))
      return false;
    *value = (other > *value) == largest ? other : *value;
  }
  return take(p, ")");
}

static bool name(parser *p, int64_t *value) {
  const char *begin = p->at;
  while (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.')
    p->at++;
  size_t length = (size_t)(p->at - begin);
  for (int32_t i = 0; i < p->model->symbol_count; i++)
    if (strlen(p->model->symbols[i].name) == length && memcmp(p->model->symbols[i].name, begin, length) == 0) {
      *value = p->sizes[i];
      return true;
    }
  if (length == 3 && (memcmp(begin, "max", 3) == 0 || memcmp(begin, "min", 3) == 0))
    return extremum(p, begin[1] == 'a', value);
  return false;
}

static bool atom(parser *p, int64_t *value) {
  if (take(p, "("))
    return sum(p, value) && take(p, ")");
  if (take(p, "-"))
    return p->depth++ < MOST_DEPTH && atom(p, value) && !__builtin_sub_overflow(0, *value, value);
  if (!isdigit((unsigned char)*p->at))
    return name(p, value);
  for (*value = 0; isdigit((unsigned char)*p->at); p->at++)
    if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *p->at - '0', value))
      return false;
  return true;
}

static bool divide(int64_t left, int64_t right, bool remainder, int64_t *value) {
  if (right == 0 || (left == INT64_MIN && right == -1))
    return false;
  int64_t rest = left % right, down = rest != 0 && (rest < 0) != (right < 0);
  *value = remainder ? rest + (down ? right : 0) : left / right - down;
  return true;
}

static bool product(parser *p, int64_t *value) {
  int64_t right;
  if (!atom(p, value))
    return false;
  for (;;)
    if (take(p, "*")) {
      if (!atom(p, &right) || __builtin_mul_overflow(*value, right, value))
        return false;
    } else if (take(p, "//")) {
      if (!atom(p, &right) || !divide(*value, right, false, value))
        return false;
    } else if (take(p, "%")) {
      if (!atom(p, &right) || !divide(*value, right, true, value))
        return false;
    } else
      return true;
}

static bool sum(parser *p, int64_t *value) {
  int64_t right;
  if (p->depth++ >= MOST_DEPTH || !product(p, value))
    return false;
  for (;;)
    if (take(p, "+")) {
      if (!product(p, &right) || __builtin_add_overflow(*value, right, value))
        return false;
    } else if (take(p, "-")) {
      if (!product(p, &right) || __builtin_sub_overflow(*value, right, value))
        return false;
    } else {
      p->depth--;
      return true;
    }
}

kiln_status kiln_evaluate_size(const kiln_model *model, const char *text, const int64_t *sizes, int64_t *size) {
  parser p = {model, sizes, text, 0};
  if (!sum(&p, size))
    return KILN_INVALID_ARGUMENT;
  p.at += strspn(p.at, " ");
  return *p.at ? KILN_INVALID_ARGUMENT : KILN_OK;
}
