"""Operators by family. Each function adds a node, or a few, to a graph, and follows the operator's document."""

import importlib

OPERATORS = {}
# Each module registers its operators. How often one is chosen: bodies and chains of sizes have more ways to go wrong.
FAMILIES = {"classic": 1, "control": 4, "convolution": 1, "elementwise": 1, "functions": 4, "images": 1, "indexing": 1, "losses": 1,
            "movement": 1, "norms": 1, "pooling": 1, "products": 1, "quantised": 1, "recurrent": 1, "reductions": 1, "sequences": 2,
            "shapes": 2, "signals": 1, "strings": 1}
WEIGHTS = {}


def operators(*names):
    """Registers a function for operators: it is called with the graph and the name."""
    def register(function):
        for name in names:
            if name in OPERATORS:
                raise ValueError(f"{name} has two functions")
            OPERATORS[name] = function
            WEIGHTS[name] = FAMILIES[function.__module__.rpartition(".")[2]]
        return function
    return register


def load():
    for name in FAMILIES:
        importlib.import_module(f"families.{name}")
    return OPERATORS
