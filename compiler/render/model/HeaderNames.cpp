#include "render/model/HeaderNames.h"

#include "support/Quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;

/// Keywords of C and C++, and GNU's.
static constexpr llvm::StringLiteral kKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "contract_assert decltype default delete do double dynamic_cast else enum explicit export extern false float for "
    "friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq";

/// What the header's own functions name.
static constexpr llvm::StringLiteral kOwn =
    "axis context int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t";

/// Macros that are not in capitals: of standard C and POSIX, of compilers in GNU mode or for some CPU, of windows.h.
static constexpr llvm::StringLiteral kMacros =
    "AF_DECnet I L_ctermid L_cuserid L_tmpnam PF_DECnet P_tmpdir arm assert cdecl complex d_fileno errno far h_addr "
    "h_errno huge i386 imaginary interface linux m68k major makedev math_errhandling max min minor mips near noreturn "
    "offsetof pascal pixel sa_handler sa_sigaction sched_priority small sparc st_atime st_ctime st_mtime stderr stdin "
    "stdout unix unreachable ut_addr ut_name ut_time ut_xtime vector";

/// Beginnings of macros that are partly in small letters, and of the header's variables and types.
static constexpr llvm::StringLiteral kFamilies = "M_ PRI SCN atomic_ ifa_ ifc_ ifr_ kiln_ s6_ sigev_ si_";

/// The runtime and the C library have functions whose names end as a model's do: pthread_create,
/// timer_create.
static constexpr llvm::StringLiteral kPrefixes =
    "aio argp argz cnd epoll gai kiln kiln_alias_of kiln_cli kiln_context kiln_old_pthread kiln_pool kiln_profile "
    "kiln_rt kiln_the "
    "memfd mtx posix_spawn_file_actions posix_spawnattr pthread pthread_attr pthread_barrier pthread_barrierattr "
    "pthread_cond pthread_condattr pthread_key pthread_mutex pthread_mutexattr pthread_rwlock pthread_rwlockattr "
    "pthread_spin sem thrd timer timerfd tss";

/// Headers of the C library that are included by itself or by C++'s.
static constexpr llvm::StringLiteral kSystemHeaders =
    "alloca assert complex ctype endian errno fcntl features fenv float inttypes iso646 limits locale malloc math "
    "memory pthread sched semaphore setjmp signal stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint "
    "stdio stdlib stdnoreturn string strings tgmath threads time uchar unistd wchar wctype";

static llvm::SmallVector<llvm::StringRef> split(llvm::StringRef words) {
  llvm::SmallVector<llvm::StringRef> list;
  words.split(list, ' ');
  return list;
}

static bool holds(llvm::StringRef words, llvm::StringRef word) { return llvm::is_contained(split(words), word); }

/// Without the names that C reserves for itself, two underscores or one and a capital in front, and without all
/// capitals, as macros are written. The header's own macros, which have a name in capitals, stay the same.
static std::string inSmallLetters(llvm::StringRef name) {
  std::string text = cIdentifier(name);
  while (llvm::StringRef(text).starts_with("__"))
    text.erase(0, 1);
  if (text.size() > 1 && llvm::none_of(text, llvm::isLower))
    return llvm::StringRef(text).lower();
  if (text.size() > 1 && text[0] == '_')
    text[1] = llvm::toLower(text[1]);
  return text;
}

render::HeaderNames::HeaderNames() {
  for (llvm::StringRef words : {kKeywords, kOwn, kMacros})
    for (llvm::StringRef word : split(words))
      take(word);
}

std::string render::HeaderNames::add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> endings) {
  const std::string base = inSmallLetters(name);
  bool isOfFamily = llvm::any_of(split(kFamilies), [&](llvm::StringRef family) { return base.starts_with(family); });
  std::string made = base;
  auto isTaken = [&] {
    return taken_.contains(made) ||
           llvm::any_of(endings, [&](llvm::StringRef ending) { return taken_.contains(made + ending.str()); });
  };
  for (unsigned number = 2; isOfFamily || isTaken(); ++number) {
    made = base + "_" + std::to_string(number);
    isOfFamily = false;
  }
  take(made);
  for (llvm::StringRef ending : endings)
    take(made + ending.str());
  return made;
}

std::string render::headerName(llvm::StringRef text) {
  std::string name = cIdentifier(text);
  // C reserves names that begin so, outside of functions.
  if (llvm::StringRef(name).starts_with("_")) {
    llvm::StringRef rest = llvm::StringRef(name).ltrim('_');
    name = (rest.empty() ? "model" : "model_" + rest).str();
  }
  return holds(kPrefixes, name) ? name + "_2" : name;
}

bool render::hidesSystemHeader(llvm::StringRef file) { return file.consume_back(".h") && holds(kSystemHeaders, file); }
