// Compares a restored service with what the lost one acknowledged:
//
//   node check.mjs URL KEY ACKNOWLEDGED ACCOUNTS UNTIL MAX_SECONDS
//
// ACKNOWLEDGED has the lines of load.mjs and of the script, ACCOUNTS the output of `vayu account list`. UNTIL (Unix, ms) is
// the moment of the restore, and changes that were sent later must be missing. It is `newest` for the last change. The
// recovery point (RPO) is the time from the first missing acknowledged change to UNTIL.
import { readFileSync } from "node:fs";

const [url, key, acknowledged, accountsFile, untilText, maxSeconds] = process.argv.slice(2);
const lines = readFileSync(acknowledged, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
const until = untilText === "newest" ? Math.max(...lines.map((line) => line.acked)) : Number(untilText);

const found = new Set(readFileSync(accountsFile, "utf8").match(/drill-\d+/g));
for (let cursor = ""; cursor !== null; ) {
	const reply = await fetch(`${url}/v1/recharge?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, {
		headers: { authorization: `Bearer ${key}` },
	});
	if (!reply.ok) throw new Error(`listing recharges: status ${reply.status}`);
	const page = await reply.json();
	for (const recharge of page.data) found.add(recharge.transaction_id);
	cursor = page.has_more ? page.next_cursor : null;
}

const faults = [];
const due = lines.filter((line) => line.acked <= until);
for (const kind of ["recharge", "account"]) {
	const of = due.filter((line) => line.kind === kind);
	const there = of.filter((line) => found.has(line.name)).length;
	console.log(`${`${kind}s`.padEnd(10)} ${there} of ${of.length} that were acknowledged until then`);
	if (of.length === 0) faults.push(`no ${kind} was acknowledged before the moment, so the drill shows nothing`);
}
const lost = due.filter((line) => !found.has(line.name));
const seconds = lost.length > 0 ? (until - Math.min(...lost.map((line) => line.acked))) / 1000 : 0;
const later = lines.filter((line) => line.sent > until && found.has(line.name));
console.log(`RPO        ${lost.length} acknowledged changes lost, of the last ${seconds.toFixed(2)} s`);
console.log(`later      ${later.length} of ${lines.filter((line) => line.sent > until).length} changes that were sent after it`);
if (seconds > Number(maxSeconds)) faults.push(`acknowledged changes of ${seconds.toFixed(2)} s are lost, and ${maxSeconds} s are allowed`);
if (later.length > 0) faults.push(`${later.length} changes from after the moment are there, such as ${later[0].name}`);
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
