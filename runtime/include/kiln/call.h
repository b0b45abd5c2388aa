/*===- call.h - Functions of the host for work that no kernel does ------------------------===
 *
 * A kernel computes one element of a shape at each point of it. Work that goes in an order that data decides (updates
 * that hit one place), or that has as many results as data says, is a function here, in C and on the host. Each is in
 * an object of its own, so that a program has only those that it calls.
 *
 * A function is given its buffers, results first, row-major, which do not overlap, and numbers; each says below what
 * they are. It returns NULL, or what is wrong with its inputs. If the number of valid elements is data, a result says
 * it. A function keeps nothing between calls and may run in two threads. It asks `scratch` for its working memory once,
 * or again if that was not enough and its contents are no longer wanted, and for room for the strings and sequences
 * that it makes as often as it likes.
 *
 * Some use a library of somebody else, which is in the object with them. Who compiles these functions from source names
 * that library, as KILN_CALL_LIBRARIES has it: KILN_WITH_PCRE2 as a macro, and what to link.
 *
 *===-------------------------------------------------------------------------------------===*/
#ifndef KILN_CALL_H
#define KILN_CALL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory, at least `bytes`, aligned for any number. NULL: no memory is left. */
typedef struct kiln_scratch {
  void *(*reserve)(struct kiln_scratch *scratch, int64_t bytes); /* for the time of one call */
  void *(*keep)(struct kiln_scratch *scratch, int64_t bytes);    /* for as long as the results: what they refer to */
} kiln_scratch;

typedef const char *kiln_call(void *const *buffers, const int64_t *sizes, kiln_scratch *scratch);

/* All of them, by name. */
/* clang-format off */
#define KILN_CALLS \
  KILN_CALL(determinant) KILN_CALL(image_decode) KILN_CALL(image_size) KILN_CALL(inverse) KILN_CALL(mersenne) KILN_CALL(optional_get) KILN_CALL(order) KILN_CALL(regex_full_match) \
  KILN_CALL(scatter) KILN_CALL(select) \
  KILN_CALL(sequence_at) KILN_CALL(sequence_concat) KILN_CALL(sequence_concat_shape) KILN_CALL(sequence_empty) \
  KILN_CALL(sequence_erase) KILN_CALL(sequence_insert) KILN_CALL(sequence_length) KILN_CALL(sequence_shape) \
  KILN_CALL(sequence_split) KILN_CALL(string_character_count) KILN_CALL(string_characters) KILN_CALL(string_concat) \
  KILN_CALL(string_constant) KILN_CALL(string_equal) KILN_CALL(string_find) KILN_CALL(string_hash) KILN_CALL(string_normalize) \
  KILN_CALL(string_parts) KILN_CALL(string_split) KILN_CALL(string_token_count) KILN_CALL(string_tokenize) \
  KILN_CALL(suppress) KILN_CALL(unique)

/* Those that use a library: its macro is KILN_WITH_ and the word; the text is for the linker. */
#define KILN_CALL_LIBRARIES \
  KILN_CALL_LIBRARY(image_decode, JPEG, "-ljpeg") KILN_CALL_LIBRARY(image_decode, OPENJPEG, "-lopenjp2") \
  KILN_CALL_LIBRARY(image_decode, PNG, "-lpng16 -lz") KILN_CALL_LIBRARY(image_decode, TIFF, "-ltiff") \
  KILN_CALL_LIBRARY(image_decode, WEBP, "-lwebp") KILN_CALL_LIBRARY(regex_full_match, PCRE2, "-lpcre2-8") \
  KILN_CALL_LIBRARY(string_token_count, PCRE2, "-lpcre2-8") KILN_CALL_LIBRARY(string_tokenize, PCRE2, "-lpcre2-8")
/* clang-format on */

/* data[n, row] with updates[m, row] stored into the rows at places[m], in order.
 * Buffers: result[n, row]; data, places (int64), updates. Numbers: n, m, row, the dtype (a kiln_dtype), and the
 * kiln_scatter that says how an update and the old value make one. A place outside 0 to n-1 is wrong. */
enum kiln_scatter { KILN_SCATTER_SET, KILN_SCATTER_ADD, KILN_SCATTER_MUL, KILN_SCATTER_MAX, KILN_SCATTER_MIN };
kiln_call kiln_call_scatter;

/* Where mask[n] is true, in order. Buffers: places (int64, room for n), their number (int64); mask (bool). Numbers: n.
 */
kiln_call kiln_call_select;

/* The places of the first elements of each row, the largest (or smallest) first; of equal ones the first comes first,
 * and a NaN is above all. Buffers: places[rows, count] (int64); x[rows, n]. Numbers: rows, n, count, the dtype, whether
 * the largest are first. */
kiln_call kiln_call_order;

/* Which of the rows of data[n, row] are different, in order, or if `sorted` is 0 as they come; NaNs are equal. Buffers
 * (int64, room for n): the first of each kind, for each row the number of its kind, how many there are of each kind;
 * the number of kinds; data. Numbers: n, row, the dtype, sorted. */
kiln_call kiln_call_unique;

/* The best of boxes[batches, n, 4] for each class, by scores[batches, classes, n], such that none overlaps another.
 * Buffers: rows of batch, class and box (int64[room for batches * classes * n, 3]), their number; boxes and scores
 * (float), the most boxes of a class (int64), how much of two boxes' area they may share, and the least score (floats).
 * Numbers: batches, classes, n, whether a box is its middle and its sizes, and whether there is a least score. */
kiln_call kiln_call_suppress;

/* The determinants of matrices[count, n, n]. Buffers: result[count]; matrices. Numbers: count, n, the dtype, a float's.
 */
kiln_call kiln_call_determinant;

/* The inverses of matrices[count, n, n]. Buffers: result[count, n, n]; matrices. Numbers: as of determinants. */
kiln_call kiln_call_inverse;

/* Numbers from 0 on below 1, those that NumPy's RandomState has for a seed. Buffers: result[n] (double). Numbers: n,
 * and the seed, whose lower 32 bits count. */
kiln_call kiln_call_mersenne;

/* The sizes of an image in BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP, from its data. Buffers: its height and width
 * (int64[2]); data[n] (uint8). Numbers: n. */
kiln_call kiln_call_image_size;

/* Its pixels, as Pillow reads them; a transparent pixel counts as its colour. Buffers: result[height, width, channels]
 * (uint8); data[n]. Numbers: n, height and width as kiln_call_image_size has them, the kiln_pixel. */
enum kiln_pixel { KILN_PIXEL_RGB, KILN_PIXEL_BGR, KILN_PIXEL_GRAYSCALE };
kiln_call kiln_call_image_decode;

/* ---- strings: buffers of const char *, NULL being the empty string ---- */

/* The strings that follow one another in some bytes, each ended by a 0. Buffers: result[n] (strings); bytes (uint8).
 * Numbers: n. */
kiln_call kiln_call_string_constant;

/* Buffers: result[n] (strings): a and then b; a[n], b[n] (strings). Numbers: n. */
kiln_call kiln_call_string_concat;

/* Buffers: result[n] (bool); a[n], b[n] (strings). Numbers: n. */
kiln_call kiln_call_string_equal;

/* Which key each string is, -1 for none; of equal keys the first. Buffers: places[n] (int64); x[n], keys[m] (strings).
 * Numbers: n, m. */
kiln_call kiln_call_string_find;

/* The rest of a list without its stop words, in another case; one empty string if nothing is left. Letters are those of
 * ASCII. Buffers: result (strings, room for n + 1), their number (int64); x[n], stop words[m] (strings). Numbers: n, m,
 * the kiln_case, and whether stop words are told by case. */
enum kiln_case { KILN_CASE_KEEP, KILN_CASE_LOWER, KILN_CASE_UPPER };
kiln_call kiln_call_string_normalize;

/* How many parts each string has between delimiters; an empty delimiter means blanks, and those at the ends do not
 * count. Buffers: counts[n], the largest of them (int64); x[n], the delimiter (strings). Numbers: n, and the most
 * delimiters that count, -1 for all. */
kiln_call kiln_call_string_parts;

/* Those parts, the last one whole, followed by empty strings. Buffers: result[n, most] (strings); x[n], the delimiter.
 * Numbers: n, the most delimiters that count, most. */
kiln_call kiln_call_string_split;

/* MurmurHash3_x86_32 of each string. Buffers: result[n] (uint32); x[n] (strings). Numbers: n, the seed. */
kiln_call kiln_call_string_hash;

/* The length of a row for the characters of any of these strings, of UTF-8: as many as the longest has, and two more if
 * they are marked and that is not 0. Buffers: the length (int64); x[n] (strings). Numbers: n, whether they are marked.
 * */
kiln_call kiln_call_string_character_count;

/* Rows of these, each with the texts of bytes 2 and 3 around it if they are marked, then padding. Buffers: result[n,
 * length] (strings); x[n], the padding (strings). Numbers: n, whether they are marked, length. */
kiln_call kiln_call_string_characters;

/* The same for tokens: the texts that a pattern of RE2's syntax matches, the longest match of those that begin first.
 * If the patterns divide, each divides what those before it have left, and tokens are the rest. Buffers: the length
 * (int64); x[n], patterns[m] (strings). Numbers: n, m, whether the patterns divide, the least characters of a token,
 * whether they are marked. With n = 0 it only checks the patterns, and the length may be NULL. */
kiln_call kiln_call_string_token_count;

/* Buffers: result[n, length] (strings); x[n], patterns[m], the padding (strings). Numbers: n, m and so on as above, and
 * length. */
kiln_call kiln_call_string_tokenize;

/* Which strings a pattern of RE2's syntax matches as a whole, by PCRE2. Buffers: result[n] (bool); x[n], the pattern
 * (strings). Numbers: n; with 0 it only checks the pattern. */
kiln_call kiln_call_regex_full_match;

/* ---- sequences: a buffer of one kiln_sequence, whose tensors nobody writes once they are in it. Positions are int64,
 * and negative ones count from the end. A tensor's numbers are its dtype, its rank and its sizes. ---- */

/* Buffers: result (a sequence) of no tensors. */
kiln_call kiln_call_sequence_empty;

/* Buffers: result; a sequence, a tensor and, maybe, the position before which it goes: else it is the last. Numbers:
 * whether there is a position, and the tensor's. */
kiln_call kiln_call_sequence_insert;

/* Buffers: result; a sequence, the position of the tensor to remove. */
kiln_call kiln_call_sequence_erase;

/* Buffers: result (int64); a sequence. */
kiln_call kiln_call_sequence_length;

/* The sizes of a tensor. Buffers: result[rank] (int64); a sequence, a position. Numbers: rank; another is wrong. */
kiln_call kiln_call_sequence_shape;

/* The tensor itself. Buffers: result; a sequence, a position. Numbers: its own; others are wrong. */
kiln_call kiln_call_sequence_at;

/* The sizes of all tensors, joined along an axis, which may be a new one. Buffers: result (int64); a sequence, which
 * must not be empty. Numbers: the tensors' dtype and rank, the axis, whether it is new. */
kiln_call kiln_call_sequence_concat_shape;

/* These tensors. Buffers: result[outer, row]; a sequence. Numbers: outer, the product of the sizes before the axis, and
 * row, that of the others. */
kiln_call kiln_call_sequence_concat;

/* Parts of a tensor along an axis. Buffers: result (a sequence); x, sizes (int64). Numbers: the axis, how many sizes
 * there are, or -1: all parts have the one size, except the last, which may be smaller; whether the parts, of size 1,
 * keep the axis; x's. */
kiln_call kiln_call_sequence_split;

/* Buffers: result: an optional, which must not be NULL; it. */
kiln_call kiln_call_optional_get;

#ifdef __cplusplus
}
#endif
#endif
