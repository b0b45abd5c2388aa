"""Whether a profile counts 48 KB at the rate of a core's own caches: small.py PROFILE"""

import json
import sys

node = json.load(open(sys.argv[1]))["nodes"][0]
assert node["bytes"] == 3 * 64 * 64 * 4, node
assert node["expected_us"] < 1, node
assert node["roofline"] <= 1, node
assert 0.15 < node["roofline"] * node["us"] < 0.25, node
