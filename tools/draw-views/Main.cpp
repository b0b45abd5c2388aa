//===- Main.cpp - draw-views: runs and draws the examples of a page -------===//
//
//   draw-views PAGE FOLDER           runs every example of PAGE and writes FOLDER/NAME.svg for those with a name
//   draw-views --check PAGE FOLDER   the same, but compares: a claim that fails or a picture that is out of date is an
//   error
//
//===----------------------------------------------------------------------===//
#include "tools/draw-views/Example.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <sstream>

using namespace kiln::docs;

static std::string readFile(const std::string &path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

int main(int argc, char **argv) {
  std::string page, folder;
  bool check = false;
  CLI::App app("Runs and draws the examples of a page of the docs");
  app.add_option("page", page, "the page, Markdown")->required()->check(CLI::ExistingFile);
  app.add_option("folder", folder, "where the pictures are")->required()->check(CLI::ExistingDirectory);
  app.add_flag("--check", check, "compare the pictures instead of writing them");
  CLI11_PARSE(app, argc, argv);

  unsigned wrong = 0;
  std::vector<Example> examples = findExamples(readFile(page));
  auto report = [&](const Example &example, const std::string &what) {
    ++wrong;
    std::cerr << "draw-views: " << page << ":" << example.line << ": " << what << "\n";
  };
  for (const Example &example : examples) {
    llvm::Expected<kiln::view::ShapeTracker> tracker = runExample(example);
    if (!tracker) {
      report(example, llvm::toString(tracker.takeError()));
      continue;
    }
    if (example.name.empty())
      continue;
    std::string path = folder + "/" + example.name + ".svg", picture = drawTracker(*tracker, example.name);
    if (!check)
      std::ofstream(path) << picture;
    else if (readFile(path) != picture)
      report(example, path + " is out of date; run draw-views");
  }
  std::cout << examples.size() << " examples, " << wrong << " wrong" << std::endl;
  return wrong != 0 || examples.empty();
}
