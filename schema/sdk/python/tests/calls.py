"""Ten calls to a real service with the installed wheel, and a comparison with the contract. .ci/sdk runs it."""

import json
import os

from vayu_sdk import POSTS_WITHOUT_KEY, ProblemError, Vayu, to_pandas, to_polars
from vayu_sdk.contract import Bulk, Payment, Record, Recharge, Station, Verification

vayu = Vayu(os.environ["API"], os.environ["KEY"])
now: Record = vayu.get("/v1/aqi", query={"city": "Delhi", "interval": "day", "kinds": "reference"})
assert now["city"] == "Delhi" and now["aqi"] > 0, now
many: Bulk = vayu.get("/v1/aqi", query={"cities": "Delhi,Mumbai"})
assert many["count"] == 2, many
cities = list(vayu.entries("/v1/cities", query={"limit": 40}))
assert len(cities) > 40, len(cities)
assert to_pandas(cities)["updated"].dtype.kind == "M", to_pandas(cities).dtypes
assert to_polars(cities).height == len(cities)
near: list[Station] = vayu.get("/v1/stations", query={"near": "28.61,77.21", "radius_km": 25, "limit": 1})["data"]
station: Station = vayu.get("/v1/stations/{id}", path={"id": near[0]["id"]})
assert station["city"] == near[0]["city"], station
assert vayu.get("/v1/account")["status"] == "success"
body = {"amount": 500.29, "method": "upi", "ref_id": "python"}
topup: Payment = vayu.post("/v1/wallet/topups", body=body, idempotency_key="calls-python")
repeated: Payment = vayu.post("/v1/wallet/topups", body=body, idempotency_key="calls-python")
assert topup["amount"] == 500.29 and repeated["payment_id"] == topup["payment_id"], repeated
order = {"mobile": "9000000001", "operator": "auto", "amount": 19.35, "type": "prepaid", "ref_id": "python"}
recharge: Recharge = vayu.post("/v1/recharge", body=order)
assert recharge["amount"] == 19.35 and recharge["ref_id"] == "python", recharge
verification: Verification = vayu.post("/v1/bank/verify", body={"vpa": "success@upi", "ref_id": "python"})
assert verification["verified"], verification
with vayu.response("/v1/stations", query={"format": "geojson"}) as reply:
    assert json.loads(reply.read())["type"] == "FeatureCollection"
try:
    vayu.get("/v1/aqi", query={"city": "Atlantis"})
    raise AssertionError("Atlantis has a record")
except ProblemError as error:
    assert error.code == "location_not_found" and error.field == "city", error

# The client must send Idempotency-Key with exactly the POSTs that take it.
paths = vayu.get("/openapi.json")["paths"]
without = {path for path, item in paths.items() if "post" in item and "dempotency" not in json.dumps(item["post"].get("parameters", []))}
assert without == POSTS_WITHOUT_KEY, without
print("python: 11 calls")
