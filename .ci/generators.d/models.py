"""Ten replies, validated by the models of datamodel-code-generator."""

import json
import os
import urllib.error
import urllib.request

import vayu_models as models


def call(path: str, body: dict[str, object] | None = None) -> bytes:
    headers = {"Authorization": "Bearer " + os.environ["KEY"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(os.environ["API"] + path, data, headers)) as reply:
            return bytes(reply.read())
    except urllib.error.HTTPError as refused:
        return bytes(refused.read())


record = models.Record.model_validate_json(call("/v1/aqi?city=Delhi&interval=day"))
assert record.city == "Delhi", record
detail = models.DetailedRecord.model_validate_json(call("/v1/aqi?city=Delhi&view=detail"))
assert detail.stations_total, detail
bulk = models.Bulk.model_validate_json(call("/v1/aqi?cities=Delhi,Mumbai"))
assert bulk.count == 2, bulk
for city in json.loads(call("/v1/cities?limit=10"))["data"]:
    models.City.model_validate(city)
stations = json.loads(call("/v1/stations?radius_km=25&limit=10"))["data"]
assert [models.Station.model_validate(s).id for s in stations] == [s["id"] for s in stations], stations
forecast_refused = models.Refusal.model_validate_json(call("/v1/forecast?city=Atlantis"))
assert forecast_refused.error.code == "location_not_found", forecast_refused
topup = models.Payment.model_validate_json(call("/v1/wallet/topups", {"amount": 500.29, "ref_id": "models"}))
assert topup.amount == 500.29, topup
order = {"mobile": "9000000001", "operator": "auto", "amount": 19.35, "type": "prepaid", "ref_id": "models"}
recharge = models.Recharge.model_validate_json(call("/v1/recharge", order))
assert recharge.amount == 19.35, recharge
verification = models.Verification.model_validate_json(call("/v1/bank/verify", {"vpa": "success@upi", "ref_id": "models"}))
assert verification.verified, verification
refused = models.Refusal.model_validate_json(call("/v1/aqi?city=Atlantis"))
assert refused.error.code == "location_not_found", refused
print("datamodel-code-generator: 10 calls")
