"""Ten calls with the client of openapi-python-client. mypy checks their types."""

import os

from vayu_client import AuthenticatedClient, models
from vayu_client.api.account import get_account
from vayu_client.api.air_quality import get_air_quality, get_station, list_cities, list_stations
from vayu_client.api.recharges import create_recharge
from vayu_client.api.verifications import create_verification
from vayu_client.api.wallet import create_topup

client = AuthenticatedClient(base_url=os.environ["API"], token=os.environ["KEY"])

now = get_air_quality.sync(client=client, city="Delhi")
assert isinstance(now, models.RecordFields) and now.aqi > 0, now
many = get_air_quality.sync(client=client, cities="Delhi,Mumbai")
assert isinstance(many, models.Bulk) and many.count == 2, many
cities = list_cities.sync(client=client)
assert isinstance(cities, models.ListCitiesResponse200), cities
near = list_stations.sync(client=client, limit=1)
assert isinstance(near, models.ListStationsResponse200), near
station = get_station.sync(near.data[0].id, client=client)
assert isinstance(station, models.GetStationResponse200) and station.city == near.data[0].city, station
account = get_account.sync(client=client)
assert account is not None and not isinstance(account, models.Refusal), account
body = models.CreateTopupBody(amount=500.29, method=models.PaymentMethod.UPI, ref_id="python")
topup = create_topup.sync(client=client, body=body)
assert topup is not None and topup.to_dict()["amount"] == 500.29, topup
order = models.CreateRechargeBody(
    mobile="9000000001", operator="auto", amount=19.35, type_=models.RechargeType.PREPAID, ref_id="python"
)
recharge = create_recharge.sync(client=client, body=order)
assert recharge is not None and recharge.to_dict()["amount"] == 19.35, recharge
verification = create_verification.sync(
    client=client, body=models.CreateVerificationBody(vpa="success@upi", ref_id="python")
)
assert verification is not None and verification.to_dict()["verified"], verification
refused = get_air_quality.sync(client=client, city="Atlantis")
assert isinstance(refused, models.Refusal) and refused.error.code == "location_not_found", refused
print("openapi-python-client: 10 calls")
