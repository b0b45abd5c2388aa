"""long.py chain|sines|sum: writes a graph of 10,000 element-wise operators in a row, of 120 sines, or of a sum of 200 inputs."""
import json
import sys

if sys.argv[1] == "chain":
    names = [f"t{i}" for i in range(10001)]
    inputs = names[:1]
    nodes = [{"op": "neg" if i % 2 else "tanh", "inputs": [names[i]], "output": names[i + 1]} for i in range(10000)]
elif sys.argv[1] == "sines":
    names = [f"t{i}" for i in range(121)]
    inputs = names[:1]
    nodes = [{"op": "sin", "inputs": [names[i]], "output": names[i + 1]} for i in range(120)]
else:
    inputs = [f"x{i}" for i in range(200)]
    totals = inputs[:1] + [f"t{i}" for i in range(1, 200)]
    nodes = [{"op": "add", "inputs": [totals[i - 1], inputs[i]], "output": totals[i]} for i in range(1, 200)]
json.dump({"inputs": [{"name": name, "dtype": "float32", "shape": [4]} for name in inputs],
           "nodes": nodes, "outputs": [nodes[-1]["output"]]}, sys.stdout)
