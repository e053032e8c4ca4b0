# Prints, for each vector on the input, what the verifier of the page says.
import base64
import json
import sys

from verify import verify

for v in json.load(sys.stdin):
    print(str(verify(v["secret"], v["header"], base64.b64decode(v["body"]), v["now"])).lower())
