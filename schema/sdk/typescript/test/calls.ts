// Ten calls to a real service with the packed package, and a comparison with the contract. .ci/sdk compiles and runs it.
import { ProblemError, postsWithoutKey, Vayu } from 'vayu-sdk';

const vayu = new Vayu({ baseUrl: process.env.API ?? '', key: process.env.KEY ?? '' });
const check = (right: boolean, text: string) => {
	if (!right) throw new Error(text);
};

const now = await vayu.get('/v1/aqi', { query: { city: 'Delhi', interval: 'day', kinds: 'reference' } });
check('aqi' in now && now.city === 'Delhi', 'Delhi has no record');
const many = await vayu.get('/v1/aqi', { query: { cities: 'Delhi,Mumbai' } });
check('count' in many && many.count === 2, 'two cities were requested');
let cities = 0;
for await (const page of vayu.pages('/v1/cities', { query: { limit: 40 } })) cities += page.data.length;
check(cities > 40, `${cities} cities, want several pages`);
const near = await vayu.get('/v1/stations', { query: { near: '28.61,77.21', radius_km: 25, limit: 1 } });
const station = await vayu.get('/v1/stations/{id}', { path: { id: near.data[0]?.id ?? '' } });
check(station.city === near.data[0]?.city, 'the station differs');
check((await vayu.get('/v1/account')).status === 'success', 'the account has no status');
const body = { amount: 500.29, method: 'upi', ref_id: 'typescript' } as const;
const topup = await vayu.post('/v1/wallet/topups', { body, idempotencyKey: 'calls' });
const repeated = await vayu.post('/v1/wallet/topups', { body, idempotencyKey: 'calls' });
check(topup.amount === 500.29 && repeated.payment_id === topup.payment_id, 'the top-up is not idempotent');
const order = { mobile: '9000000001', operator: 'auto', amount: 19.35, type: 'prepaid', ref_id: 'typescript' } as const;
const recharge = await vayu.post('/v1/recharge', { body: order });
check(recharge.amount === 19.35 && recharge.ref_id === 'typescript', 'the recharge differs');
const verification = await vayu.post('/v1/bank/verify', { body: { vpa: 'success@upi', ref_id: 'typescript' } });
check(verification.verified, 'the address is not verified');
const chart = await vayu.response('/v1/aqi/chart.png', { query: { city: 'Delhi' } }).catch((error: unknown) => error);
check(chart instanceof ProblemError || (chart instanceof Response && chart.ok), 'the chart has no reply');
const refused = await vayu.get('/v1/aqi', { query: { city: 'Atlantis' } }).catch((error: unknown) => error);
check(refused instanceof ProblemError && refused.code === 'location_not_found', 'Atlantis has a record');

// The client must send Idempotency-Key with exactly the POSTs that take it.
const contract = await (await vayu.response('/openapi.json')).json();
const takes = (operation: { parameters?: { $ref?: string }[] }) => JSON.stringify(operation.parameters ?? []).includes('dempotency');
const without = Object.entries<{ post?: object }>(contract.paths).flatMap(([path, { post }]) => (post && !takes(post) ? [path] : []));
check(without.sort().join() === [...postsWithoutKey].sort().join(), `POSTs without Idempotency-Key: ${without}`);
console.log('typescript: 11 calls');
