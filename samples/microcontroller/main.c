/* Reads a digit on a Cortex-M without an operating system or a C library. All memory of the model comes from one array;
 * input and output go through the debugger only (semihosting). */
#include "mnist.h"

#include <stddef.h>

/* The picture, 28 by 28 numbers, is part of the program. */
__asm__(".section .rodata\n.balign 4\npicture:\n.incbin \"digit.bin\"\n.text\n");
extern const float picture[28 * 28];

/* Gives pieces of the array, one after the other; none comes back before the context ends. */
static unsigned char memory[64 * 1024];
static size_t used;

static void *give(void *user, size_t bytes, size_t alignment) {
  (void)user;
  size_t begin = ((uintptr_t)memory + used + alignment - 1) / alignment * alignment - (uintptr_t)memory;
  if (begin > sizeof memory || bytes > sizeof memory - begin)
    return NULL;
  used = begin + bytes;
  return memory + begin;
}

static void tell(int what, const void *argument) {
  register int r0 __asm__("r0") = what;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
static void say(const char *text) { tell(0x04, text); }

static void read_digit(void) {
  char error[128], line[] = "?\n";
  float scores[10];
  kiln_context *context;
  kiln_options options = {.size = sizeof options, .memory = {.allocate = give}};
  if (mnist_create(&options, &context, error, sizeof error)) {
    say(error);
    return;
  }
  if (mnist_run_into(context, picture, scores, 10)) {
    say(mnist_error(context));
    return;
  }
  int best = 0;
  for (int digit = 1; digit < 10; digit++)
    if (scores[digit] > scores[best])
      best = digit;
  line[0] = (char)('0' + best);
  say(line);
  mnist_destroy(context);
}

/* Functions that compilers call by themselves. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    ((volatile char *)to)[i] = (char)value;
  return to;
}

extern char stack_top[], data_from[], data_begin[], data_end[], zero_begin[], zero_end[];

void reset(void) {
  *(volatile uint32_t *)0xe000ed88 |= 0xf << 20; /* the floating-point unit is on */
  __asm__ volatile("dsb\nisb");
  memcpy(data_begin, data_from, (size_t)(data_end - data_begin));
  memset(zero_begin, 0, (size_t)(zero_end - zero_begin));
  read_digit();
  tell(0x18, (const void *)0x20026); /* the program is over */
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {stack_top, (const void *)reset};
