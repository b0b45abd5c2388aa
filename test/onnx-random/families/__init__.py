"""Operators by family. Each function adds a node, or a few, to a graph, and follows the operator's document."""

OPERATORS = {}


def operators(*names):
    """Registers a function for operators: it is called with the graph and the name."""
    def register(function):
        for name in names:
            if name in OPERATORS:
                raise ValueError(f"{name} has two functions")
            OPERATORS[name] = function
        return function
    return register


def load():
    """All families; each module registers its own."""
    from families import (control, convolution, elementwise, functions, images, indexing, losses, movement, norms, pooling,
                          products, quantised, recurrent, reductions, sequences, shapes, signals, strings)
    del control, convolution, elementwise, functions, images, indexing, losses, movement, norms, pooling, products
    del quantised, recurrent, reductions, sequences, shapes, signals, strings
    return OPERATORS
