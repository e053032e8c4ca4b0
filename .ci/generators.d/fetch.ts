// Ten calls with the types of openapi-typescript and the client openapi-fetch. tsc checks their types.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths, "application/json">({ // lists are GeoJSON, too
  baseUrl: process.env.API,
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});

// data returns the data of a reply, or throws the code of its error.
async function data<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (!data) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

const now = await data(client.GET("/v1/aqi", { params: { query: { city: "Delhi", interval: "day", kinds: "reference" } } }));
if (!("aqi" in now)) throw new Error("the record has no aqi");
const many = await data(client.GET("/v1/aqi", { params: { query: { cities: "Delhi,Mumbai" } } }));
if (!("count" in many) || many.count !== 2) throw new Error("the reply does not have two cities");
await data(client.GET("/v1/cities", { params: { query: { limit: 100 } } }));
const near = await data(client.GET("/v1/stations", { params: { query: { radius_km: 25, limit: 1 } } }));
const station = await data(client.GET("/v1/stations/{id}", { params: { path: { id: near.data[0].id } } }));
if (station.city !== near.data[0].city || station.status !== "success") throw new Error("the station differs");
await data(client.GET("/v1/account"));
const topup = await data(client.POST("/v1/wallet/topups", { body: { amount: 500.29, method: "upi", ref_id: "fetch" } }));
const recharge = await data(
  client.POST("/v1/recharge", {
    body: { mobile: "9000000001", operator: "auto", amount: 19.35, type: "prepaid", ref_id: "fetch" },
  }),
);
if (recharge.amount !== 19.35 || topup.amount !== 500.29) throw new Error(`amounts ${topup.amount}, ${recharge.amount}`);
await data(client.POST("/v1/bank/verify", { body: { vpa: "success@upi", ref_id: "fetch" } }));
const refused = await client.GET("/v1/aqi", { params: { query: { city: "Atlantis" } } });
if (refused.error?.error.code !== "location_not_found") throw new Error(`error ${JSON.stringify(refused.error)}`);
console.log("openapi-typescript: 10 calls");
