import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/** written runs a Python script on the store of the running service, and returns its output. */
async function written(script: string, ...args: string[]): Promise<string> {
	const begin = "import sqlite3, sys, time\ndb = sqlite3.connect(sys.argv[1] + '/state.db', timeout=60)\n";
	const { stdout } = await promisify(execFile)('python3', ['-c', begin + script, inject('data'), ...args]);
	return stdout.trim();
}

/**
 * givenUp changes deliveries that wait after a failed attempt to their state 31 hours later: failed, with eight
 * attempts like the first. It returns the number of changed deliveries.
 */
export async function givenUp(ids: readonly string[]): Promise<number> {
	const script = `
after, done = [0, 0, 10, 40, 160, 760, 4360, 25960, 112360], 0
with db:
    for id in sys.argv[2:]:
        changed = db.execute("UPDATE delivery SET state = 'failed', attempts = 8, token = '', due_at = 0, finished_at = "
            "(SELECT at FROM attempt WHERE delivery_id = id AND number = 1) + ? "
            "WHERE id = ? AND state = 'waiting' AND attempts > 0", (after[8] * 1000000, id)).rowcount
        done += changed
        for n in range(2, 9) if changed else []:
            db.execute("INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at) "
                "SELECT delivery_id, ?, at + ?, duration, stage, http_status, error, body, recorded_at FROM attempt "
                "WHERE delivery_id = ? AND number = 1 ON CONFLICT DO NOTHING", (n, after[n] * 1000000, id))
print(done)`;
	return Number(await written(script, ...ids));
}

/**
 * grown adds deliveries of a webhook's newest event, 20 seconds apart and all in the past. Every tenth has
 * failed. The stored replies of the receiver contain HTML and scripts.
 */
export async function grown(webhook: string, count: number): Promise<void> {
	const script = `
letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
def name(ms, n):
    id, left = '', (ms << 80) | n
    for _ in range(26):
        id, left = letters[left & 31] + id, left >> 5
    return 'dlv_' + id
webhook, count, now = sys.argv[2], int(sys.argv[3]), int(time.time() * 1000) - 60000
event, account, mode = db.execute("SELECT event_id, account_id, mode FROM delivery WHERE webhook_id = ? ORDER BY id DESC LIMIT 1", (webhook,)).fetchone()
deliveries, attempts, before = [], [], name(0, 0)
for i in range(count):
    ms, bad = now - (count - i) * 20000, i % 10 == 0
    id, us = name(ms, i), ms * 1000
    deliveries.append((id, event, webhook, account, mode, before, 'failed' if bad else 'delivered', 8 if bad else 1, us, us + 1000000))
    before = id
    for n in range(1, 9 if bad else 2):
        attempts.append((id, n, us + n * 1000000, 12345, 301 if bad else 200, 'it answered 301 <script>document.title="taken"</script>' if bad else '', b'<img src=x onerror=alert(1)>', us))
with db:
    db.executemany("INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, state, attempts, due_at, token, created_at, finished_at, retried_as) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', ?, ?, '')", deliveries)
    db.executemany("INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at) VALUES (?, ?, ?, ?, 'status', ?, ?, ?, ?)", attempts)`;
	await written(script, webhook, String(count));
}

/** masked masks the number of a recharge, as the service does after half a year. */
export async function masked(id: string): Promise<void> {
	await written(
		"with db: db.execute(\"UPDATE recharge SET number = 'XXXXXX' || substr(number, -4), number_digest = x'00' WHERE id = ?\", sys.argv[2:])",
		id,
	);
}
