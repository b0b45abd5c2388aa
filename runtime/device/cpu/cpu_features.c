/*===- cpu_features.c - What this machine's CPU can do --------------------===
 *
 * Code for a newer CPU ends with an illegal instruction on an older one, somewhere in the middle of a run. So before
 * the first kernel the features that it needs are compared with those of the CPU, by LLVM's names ("avx2,fma"). It is
 * not enough that a CPU has an instruction. The system has to save its registers when it switches tasks, and AMX's
 * tiles have to be asked for. Features that this machine cannot report count as there, as do names that stand for no
 * instructions.
 *
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE /* syscall */
#include "cpu_features.h"

#include <stdint.h>
#include <string.h>

typedef struct feature {
  char name[20]; /* LLVM's; no pointer, so that a table of them needs no relocations */
  uint8_t word;  /* of read_words */
  uint8_t bit;
  uint8_t state; /* the state that the system must save: an index of `states` */
} feature;

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { L1_ECX, L1_EDX, L7_EBX, L7_ECX, L7_EDX, L71_EAX, L71_EDX, X1_ECX, X1_EDX, D1_EAX, L14_EBX, L24_EBX, WORDS };
enum { NONE, YMM, ZMM, TILE };
static const uint64_t states[] = {0, 0x6, 0xe6, 0x60000}; /* bits of XCR0 */

static const feature features[] = {
    {"sse3", L1_ECX, 0, NONE},          {"pclmul", L1_ECX, 1, NONE},
    {"ssse3", L1_ECX, 9, NONE},         {"fma", L1_ECX, 12, YMM},
    {"cx16", L1_ECX, 13, NONE},         {"sse4.1", L1_ECX, 19, NONE},
    {"sse4.2", L1_ECX, 20, NONE},       {"movbe", L1_ECX, 22, NONE},
    {"popcnt", L1_ECX, 23, NONE},       {"aes", L1_ECX, 25, NONE},
    {"xsave", L1_ECX, 26, NONE},        {"avx", L1_ECX, 28, YMM},
    {"f16c", L1_ECX, 29, YMM},          {"rdrnd", L1_ECX, 30, NONE},
    {"cx8", L1_EDX, 8, NONE},           {"cmov", L1_EDX, 15, NONE},
    {"mmx", L1_EDX, 23, NONE},          {"fxsr", L1_EDX, 24, NONE},
    {"sse", L1_EDX, 25, NONE},          {"sse2", L1_EDX, 26, NONE},
    {"bmi", L7_EBX, 3, NONE},           {"avx2", L7_EBX, 5, YMM},
    {"bmi2", L7_EBX, 8, NONE},          {"avx512f", L7_EBX, 16, ZMM},
    {"avx512dq", L7_EBX, 17, ZMM},      {"rdseed", L7_EBX, 18, NONE},
    {"adx", L7_EBX, 19, NONE},          {"avx512ifma", L7_EBX, 21, ZMM},
    {"clflushopt", L7_EBX, 23, NONE},   {"clwb", L7_EBX, 24, NONE},
    {"avx512cd", L7_EBX, 28, ZMM},      {"sha", L7_EBX, 29, NONE},
    {"avx512bw", L7_EBX, 30, ZMM},      {"avx512vl", L7_EBX, 31, ZMM},
    {"avx512vbmi", L7_ECX, 1, ZMM},     {"avx512vbmi2", L7_ECX, 6, ZMM},
    {"gfni", L7_ECX, 8, NONE},          {"vaes", L7_ECX, 9, YMM},
    {"vpclmulqdq", L7_ECX, 10, YMM},    {"avx512vnni", L7_ECX, 11, ZMM},
    {"avx512bitalg", L7_ECX, 12, ZMM},  {"avx512vpopcntdq", L7_ECX, 14, ZMM},
    {"rdpid", L7_ECX, 22, NONE},        {"movdiri", L7_ECX, 27, NONE},
    {"movdir64b", L7_ECX, 28, NONE},    {"avx512vp2intersect", L7_EDX, 8, ZMM},
    {"serialize", L7_EDX, 14, NONE},    {"amx-bf16", L7_EDX, 22, TILE},
    {"avx512fp16", L7_EDX, 23, ZMM},    {"amx-tile", L7_EDX, 24, TILE},
    {"amx-int8", L7_EDX, 25, TILE},     {"sha512", L71_EAX, 0, YMM},
    {"avxvnni", L71_EAX, 4, YMM},       {"avx512bf16", L71_EAX, 5, ZMM},
    {"cmpccxadd", L71_EAX, 7, NONE},    {"amx-fp16", L71_EAX, 21, TILE},
    {"avxifma", L71_EAX, 23, YMM},      {"avxvnniint8", L71_EDX, 4, YMM},
    {"avxneconvert", L71_EDX, 5, YMM},  {"amx-complex", L71_EDX, 8, TILE},
    {"avxvnniint16", L71_EDX, 10, YMM}, {"sahf", X1_ECX, 0, NONE},
    {"lzcnt", X1_ECX, 5, NONE},         {"sse4a", X1_ECX, 6, NONE},
    {"prfchw", X1_ECX, 8, NONE},        {"xop", X1_ECX, 11, YMM},
    {"fma4", X1_ECX, 16, YMM},          {"tbm", X1_ECX, 21, NONE},
    {"64bit", X1_EDX, 29, NONE},        {"xsaveopt", D1_EAX, 0, NONE},
    {"xsavec", D1_EAX, 1, NONE},        {"xsaves", D1_EAX, 3, NONE},
};

static void read_words(uint32_t *words) {
  uint32_t a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    words[L1_ECX] = c;
    words[L1_EDX] = d;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    words[L7_EBX] = b;
    words[L7_ECX] = c;
    words[L7_EDX] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
      words[L71_EAX] = a;
      words[L71_EDX] = d;
    }
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
    words[X1_ECX] = c;
    words[X1_EDX] = d;
  }
  if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d))
    words[D1_EAX] = a;
}

static uint64_t read_saved_state(const uint32_t *words) {
  if (!(words[L1_ECX] >> 27 & 1)) /* without OSXSAVE, xgetbv faults */
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

/* Linux lets a process use tiles only once it has asked for their state. */
static bool request_state(uint8_t state) {
#if defined(__linux__) && defined(SYS_arch_prctl)
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  return state != TILE || syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
  return state != TILE;
#endif
}

#else

/* Where no part of a CPU has to be asked for before it is used. */
enum { NONE };
static const uint64_t states[] = {0};
static uint64_t read_saved_state(const uint32_t *words) {
  (void)words;
  return 0;
}
static bool request_state(uint8_t state) { return state == NONE; }

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

enum { WORDS = 4 };

/* Word 0 and 1 are the halves of AT_HWCAP, 2 and 3 those of AT_HWCAP2. */
static const feature features[] = {
    {"fp-armv8", 0, 0, NONE}, {"neon", 0, 1, NONE},       {"aes", 0, 3, NONE},      {"sha2", 0, 6, NONE},
    {"crc", 0, 7, NONE},      {"lse", 0, 8, NONE},        {"fullfp16", 0, 9, NONE}, {"rdm", 0, 12, NONE},
    {"jsconv", 0, 13, NONE},  {"complxnum", 0, 14, NONE}, {"rcpc", 0, 15, NONE},    {"sha3", 0, 17, NONE},
    {"sm4", 0, 19, NONE},     {"dotprod", 0, 20, NONE},   {"sve", 0, 22, NONE},     {"fp16fml", 0, 23, NONE},
    {"sve2", 2, 1, NONE},     {"i8mm", 2, 13, NONE},      {"bf16", 2, 14, NONE},    {"sme", 2, 23, NONE},
    {"cssc", 3, 2, NONE},     {"sve2p1", 3, 4, NONE},     {"mops", 3, 11, NONE},
};

static void read_words(uint32_t *words) {
  uint64_t low = getauxval(AT_HWCAP), high = getauxval(AT_HWCAP2);
  words[0] = (uint32_t)low;
  words[1] = (uint32_t)(low >> 32);
  words[2] = (uint32_t)high;
  words[3] = (uint32_t)(high >> 32);
}

#elif defined(__arm__) && defined(__linux__)
#include <sys/auxv.h>

enum { WORDS = 1 };
static const feature features[] = {{"neon", 0, 12, NONE}, {"vfp4", 0, 16, NONE}};
static void read_words(uint32_t *words) { words[0] = (uint32_t)getauxval(AT_HWCAP); }

#elif defined(__riscv) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LETTERS, LOW, HIGH, WORDS };

/* A bit for each letter in AT_HWCAP; the others are the system's answer to riscv_hwprobe, key IMA_EXT_0. */
static const feature features[] = {
    {"v", LETTERS, 'v' - 'a', NONE}, {"zba", LOW, 3, NONE},     {"zbb", LOW, 4, NONE},   {"zbs", LOW, 5, NONE},
    {"zfh", LOW, 27, NONE},          {"zfhmin", LOW, 28, NONE}, {"zvfh", LOW, 30, NONE}, {"zicond", HIGH, 3, NONE},
};

static void read_words(uint32_t *words) {
  enum { HWPROBE = 258, IMA_EXT_0 = 4 };
  struct {
    int64_t key;
    uint64_t value;
  } probe = {IMA_EXT_0, 0};
  words[LETTERS] = (uint32_t)getauxval(AT_HWCAP);
  /* A system older than the call does not report features, and missing reports are not a reason to refuse. */
  uint64_t found = syscall(HWPROBE, &probe, (size_t)1, (size_t)0, NULL, 0U) == 0 ? probe.value : UINT64_MAX;
  words[LOW] = (uint32_t)found;
  words[HIGH] = (uint32_t)(found >> 32);
}

#else

enum { WORDS = 1 };
static const feature features[] = {{"", 0, 0, NONE}};
static void read_words(uint32_t *words) { words[0] = 0; }

#endif
#endif

static bool has(const feature *wanted, const uint32_t *words, uint64_t saved) {
  uint64_t state = states[wanted->state];
  return (words[wanted->word] >> wanted->bit & 1) && (saved & state) == state && request_state(wanted->state);
}

bool kiln_cpu_lacks(const char *wanted, char *missing, size_t bytes) {
  uint32_t words[WORDS] = {0};
  read_words(words);
  uint64_t saved = read_saved_state(words);
  size_t used = 0;
  bool any = false;
  missing[0] = 0;
  while (*wanted) {
    wanted += *wanted == '+';
    size_t length = strcspn(wanted, ",");
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
      if (strlen(features[i].name) != length || memcmp(features[i].name, wanted, length) != 0 ||
          has(&features[i], words, saved))
        continue;
      if (used + length + 3 <= bytes) {
        memcpy(missing + used, any ? ", " : "", any ? 2 : 0);
        used += any ? 2 : 0;
        memcpy(missing + used, wanted, length);
        missing[used += length] = 0;
      }
      any = true;
    }
    wanted += length;
    wanted += *wanted == ',';
  }
  return any;
}
