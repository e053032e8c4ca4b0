// Ten calls with the client of @hey-api/openapi-ts. tsc checks their types.
import { client } from "./hey/client.gen.js";
import * as api from "./hey/sdk.gen.js";

client.setConfig({ baseUrl: process.env.API, auth: process.env.KEY });
const options = { throwOnError: true } as const;

const now = await api.getAirQuality({ ...options, query: { city: "Delhi", interval: "day", kinds: "reference" } });
if (!("aqi" in now.data)) throw new Error("the record has no aqi");
const many = await api.getAirQuality({ ...options, query: { cities: "Delhi,Mumbai" } });
if (!("count" in many.data) || many.data.count !== 2) throw new Error("the reply does not have two cities");
await api.listCities({ ...options, query: { limit: 100 } });
const stations = (await api.listStations({ ...options, query: { radius_km: 25, limit: 1 } })).data;
if (!("data" in stations)) throw new Error("the list is GeoJSON");
const near = stations.data[0];
const station = (await api.getStation({ ...options, path: { id: near.id } })).data;
if (station.city !== near.city || station.status !== "success") throw new Error("the station differs");
await api.getAccount(options);
const topup = await api.createTopup({ ...options, body: { amount: 500.29, method: "upi", ref_id: "hey" } });
const recharge = await api.createRecharge({
  ...options,
  body: { mobile: "9000000001", operator: "auto", amount: 19.35, type: "prepaid", ref_id: "hey" },
});
if (recharge.data.amount !== 19.35 || topup.data.amount !== 500.29) throw new Error("the amounts differ");
await api.createVerification({ ...options, body: { vpa: "success@upi", ref_id: "hey" } });
const refused = await api.getAirQuality({ query: { city: "Atlantis" } });
if (refused.error?.error?.code !== "location_not_found") throw new Error(`error ${JSON.stringify(refused.error)}`);
console.log("@hey-api/openapi-ts: 10 calls");
