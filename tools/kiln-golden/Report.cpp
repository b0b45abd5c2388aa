#include "tools/kiln-golden/Report.h"

#include <algorithm>
#include <cctype>
#include <iostream>

using namespace kiln::golden;

void Report::begin(std::string name) {
  name_ = std::move(name);
  bad_ = false;
}

void Report::mismatch(const std::string &what) {
  bad_ = true;
  note(what);
}

void Report::note(const std::string &what) { std::cout << name_ << ": " << what << "\n"; }

void Report::expectFields(const Json &object, std::initializer_list<const char *> known) {
  for (const auto &item : object.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      mismatch("unknown field '" + item.key() + "'");
}

void Report::end() { ++(bad_ ? failed_ : passed_); }

int Report::finish() {
  if (passed_ + failed_ == 0)
    std::cout << "no case at all\n";
  std::cout << passed_ << " passed, " << failed_ << " failed" << std::endl;
  return failed_ > 0 || passed_ == 0;
}

unsigned kiln::golden::countNodes(const std::string &rendered) {
  unsigned nodes = 0;
  for (size_t i = 0; i < rendered.size();) {
    unsigned char c = rendered[i];
    bool operand = i > 0 && (std::isalnum((unsigned char)rendered[i - 1]) || rendered[i - 1] == ')');
    if (std::isalnum(c) || c == '_' || (c == '-' && !operand)) {
      // A leaf, or the word of a conjunction.
      for (++i; i < rendered.size() && (std::isalnum((unsigned char)rendered[i]) || rendered[i] == '_');)
        ++i;
      ++nodes;
    } else if (c == '(' || c == ')' || c == ' ') {
      ++i;
    } else {
      i += rendered.compare(i, 2, "//") == 0 || rendered.compare(i, 2, ">=") == 0 ? 2 : 1;
      ++nodes;
    }
  }
  return nodes;
}
