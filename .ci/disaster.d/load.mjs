// Sends recharges until it is killed: node load.mjs URL KEY. It prints a line of JSON for each acknowledged one, with the
// times (Unix, ms) at which it was sent and acknowledged.
const [url, key] = process.argv.slice(2);
let next = 0;

async function worker() {
	for (;;) {
		const ref = `drill-${process.pid}-${next++}`;
		const sent = Date.now();
		const body = JSON.stringify({ mobile: "9000000001", operator: "auto", amount: 10, type: "prepaid", ref_id: ref });
		try {
			const reply = await fetch(`${url}/v1/recharge`, {
				method: "POST",
				headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
				body,
			});
			const { transaction_id: id } = await reply.json();
			if (reply.ok) console.log(JSON.stringify({ kind: "recharge", name: id, sent, acked: Date.now() }));
			else console.error(`recharge ${ref}: status ${reply.status}`);
		} catch {
			return; // the service was killed
		}
	}
}
await Promise.all(Array.from({ length: 4 }, worker));
