import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { inject } from 'vitest';

/** Got is a delivery as the receiver got it. */
export interface Got {
	path: string;
	headers: IncomingHttpHeaders;
	body: string;
}

const open: Receiver[] = [];

/** closeReceivers closes the receivers of a test. */
export async function closeReceivers(): Promise<void> {
	await Promise.all(open.splice(0).map((receiver) => receiver.shut()));
}

/** Receiver is a subscriber's HTTPS server on this machine. Tests can make it fail and recover. */
export class Receiver {
	readonly got: Got[] = [];
	/** status and says are the status and body of its replies. While mute is true it does not reply. */
	status = 200;
	says = 'thank you';
	mute = false;
	private server: Server | undefined;
	private port = 0;

	/** start returns a receiver that listens on a free port until the test ends. */
	static async start(): Promise<Receiver> {
		const receiver = new Receiver();
		open.push(receiver);
		await receiver.listen();
		return receiver;
	}

	/** url is its address, also while it is shut. */
	get url(): string {
		return `https://127.0.0.1:${this.port}/hook`;
	}

	/** listen opens the port, the same as before if it had one. */
	async listen(): Promise<void> {
		const server = createServer({ cert: inject('certificate').cert, key: inject('certificate').key }, (request, response) => {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', () => {
				this.got.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
				if (!this.mute) {
					// A kept-alive connection would hide that the port was closed.
					response
						.writeHead(this.status, { Connection: 'close', Location: 'https://127.0.0.1:9/elsewhere', 'Set-Cookie': 'sid=NeverShown' })
						.end(this.says);
				}
			});
		});
		await new Promise<void>((done, failed) => server.once('error', failed).listen(this.port, '127.0.0.1', done));
		this.server = server;
		this.port = (server.address() as AddressInfo).port;
	}

	async shut(): Promise<void> {
		const { server } = this;
		this.server = undefined;
		if (server) {
			server.closeAllConnections();
			await new Promise((done) => server.close(done));
		}
	}
}

/** signs reports whether a secret signed a delivery, and how many signatures the delivery has. */
export function signs(secret: string, { headers, body }: Got): { signed: boolean; of: number } {
	const items = String(headers['x-service-signature'])
		.split(',')
		.map((item) => item.split('='));
	const at = items.find(([name]) => name === 't')?.[1];
	const all = items.filter(([name]) => name === 'v1').map(([, value]) => value);
	const want = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
	return { signed: all.includes(want), of: all.length };
}
