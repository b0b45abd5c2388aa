/*===- size.c - Sizes as they are declared -------------------------------===*/
#include "size.h"

#include <ctype.h>
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
  if (!sum(p, value))
    return false;
  while (take(p, ",")) {
    if (!sum(p, &other))
      return false;
    *value = (other > *value) == largest ? other : *value;
  }
  return take(p, ")");
}

static bool continues_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* The symbol that stands here by itself. */
static bool symbol(parser *p, int64_t *value) {
  size_t length = 0;
  while (continues_name(p->at[length]))
    length++;
  for (int32_t i = 0; i < p->model->symbol_count; i++) {
    const char *name = p->model->symbols[i].name;
    if (length == 0 || strlen(name) != length || strncmp(p->at, name, length) != 0)
      continue;
    p->at += length;
    *value = p->sizes[i];
    return true;
  }
  return false;
}

/* The same for a name that may hold anything, after the quote before it. A quote within it is doubled. */
static bool quoted(parser *p, int64_t *value) {
  for (int32_t i = 0; i < p->model->symbol_count; i++) {
    const char *name = p->model->symbols[i].name, *at = p->at;
    for (; *name && *at == *name && (*name != '"' || *++at == '"'); name++)
      at++;
    if (*name || at[0] != '"' || at[1] == '"')
      continue;
    p->at = at + 1;
    *value = p->sizes[i];
    return true;
  }
  return false;
}

static bool atom(parser *p, int64_t *value) {
  if (take(p, "("))
    return sum(p, value) && take(p, ")");
  if (take(p, "\""))
    return quoted(p, value);
  if (take(p, "-")) {
    bool good = p->depth++ < MOST_DEPTH && atom(p, value) && !__builtin_sub_overflow(0, *value, value);
    p->depth--;
    return good;
  }
  if (!isdigit((unsigned char)*p->at))
    return take(p, "min(") ? extremum(p, false, value) : take(p, "max(") ? extremum(p, true, value) : symbol(p, value);
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

bool kiln_evaluate_size(const kiln_model *model, const char *text, const int64_t *sizes, int64_t *size) {
  parser p = {model, sizes, text, 0};
  if (!sum(&p, size))
    return false;
  p.at += strspn(p.at, " ");
  return !*p.at;
}
