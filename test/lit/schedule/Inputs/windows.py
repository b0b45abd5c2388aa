"""windows.py COUNT: a graph that adds COUNT windows of one computed tensor, each a step further than the one before."""

import json
import sys

count = int(sys.argv[1])
nodes = [{"op": "exp", "inputs": ["x"], "output": "e"}]
for i in range(count):
    nodes.append({"op": "shrink", "inputs": ["e"], "bounds": [[i, i + 4]], "output": f"w{i}"})
nodes.append({"op": "neg", "inputs": ["w0"], "output": "s0"})
for i in range(1, count):
    nodes.append({"op": "add", "inputs": [f"s{i - 1}", f"w{i}"], "output": f"s{i}"})
inputs = [{"name": "x", "dtype": "float32", "shape": [count + 4]}]
json.dump({"inputs": inputs, "nodes": nodes, "outputs": [f"s{count - 1}"]}, sys.stdout)
