# Numbers, JSON, regular expressions, sorting with a callback.
import json
import random
import re

d = {str(i): [random.random() for _ in range(5)] for i in range(2000)}
s = json.dumps(d, sort_keys=True)
print(len(s), len(re.findall(r"[0-9]\.[0-9]+", s)), len(sorted(d, key=lambda k: d[k])))
